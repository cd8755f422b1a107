import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { namesBy, openMemberships } from '../../../../server/engines/process/network/memberships.ts'
import type { LinkedOwner } from '../../../../server/engines/process/network/networks.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'memberships-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const link = (ownerId: string, networkId: string): LinkedOwner => ({
  ownerId,
  number: 1,
  networkId,
  names: [ownerId],
  instanceIds: [`${ownerId}-1`],
})

test('a workload is where it was started until its owner is linked, and then where that was linked last', async () => {
  const memberships = openMemberships(dir)
  memberships.add({ id: 'one-1', ownerId: 'one', networkId: 'a' })
  expect(memberships.networkOf('one')).toBe('a')
  for (const networkId of ['b', 'c']) {
    memberships.link([link('one', networkId)])
    await memberships.save()
    expect(memberships.networkOf('one')).toBe(networkId)
    expect(openMemberships(dir).networkOf('one')).toBe(networkId)
  }
})

test('an owner of which something still runs keeps its network when it is told of no more, and nobody is led to it', () => {
  const memberships = openMemberships(dir)
  memberships.add({ id: 'one-1', ownerId: 'one', networkId: 'a' })
  memberships.link([link('one', 'b'), link('two', 'b')])
  memberships.link([])
  expect([memberships.networkOf('one'), memberships.networkOf('two')]).toEqual(['b', undefined])
  expect(namesBy(memberships, String)('b')).toEqual([])
  memberships.remove('one-1')
  memberships.link([])
  expect(memberships.networkOf('one')).toBeUndefined()
})

test('the last workload of an owner is told from those before', () => {
  const memberships = openMemberships(dir)
  for (const id of ['one-1', 'one-2']) memberships.add({ id, ownerId: 'one', networkId: 'a' })
  expect(['one-1', 'one-2', 'one-2'].map((id) => memberships.remove(id)?.wasLast)).toEqual([false, true, undefined])
})

test('links of an earlier version, which knew services only, are read', async () => {
  const { ownerId: serviceId, ...rest } = link('one', 'a')
  writeFileSync(join(dir, 'links.json'), JSON.stringify([{ serviceId, ...rest }]))
  const memberships = openMemberships(dir)
  expect(memberships.links).toEqual([link('one', 'a')])
  await memberships.save()
  expect(readFileSync(join(dir, 'links.json'), 'utf8')).toContain('"networkId":"a"')
  writeFileSync(join(dir, 'links.json'), '')
  expect(openMemberships(dir).links).toEqual([])
})
