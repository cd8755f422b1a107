import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Adopted } from '../../../../server/engines/process/network/networks.ts'
import { openSharedNetwork } from '../../../../server/engines/process/network/shared-network.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shared-network-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const open = (adopted: Adopted[] = []) => openSharedNetwork({ directory: dir, hostServices: [], adopted })
const workload = (ownerId: string) => ({ id: `${ownerId}-1`, ownerId, recordDir: dir, networkId: 'a', isHost: false })
const link = (ownerId: string, number: number, networkId: string) => ({ ownerId, number, networkId, names: [ownerId], instanceIds: [] })

test('names are those of the network that an owner was linked into last, and go with its last workload', async () => {
  const networks = await open()
  const { files } = await networks.enter(workload('one'))
  const path = files[0]?.source ?? ''
  const knows = (name: string) => readFileSync(path, 'utf8').includes(` ${name}\n`)
  await networks.link([link('one', 1, 'a'), link('two', 2, 'a'), link('three', 3, 'b')])
  expect(['two', 'three'].map(knows)).toEqual([true, false])
  await networks.link([link('one', 1, 'b'), link('two', 2, 'a'), link('three', 3, 'b')])
  expect(['two', 'three'].map(knows)).toEqual([false, true])
  await networks.leave('one-1')
  expect(existsSync(path)).toBe(false)
})

test('an engine that starts keeps the names of what runs, and of nobody else', async () => {
  const networks = await open()
  const [one, two] = [await networks.enter(workload('one')), await networks.enter(workload('two'))]
  await networks.link([link('one', 1, 'a'), link('two', 2, 'b')])
  const later = await open([workload('one')])
  expect([one, two].map(({ files }) => existsSync(files[0]?.source ?? ''))).toEqual([true, false])
  await later.link([link('one', 1, 'b'), link('two', 2, 'b')])
  expect(readFileSync(one.files[0]?.source ?? '', 'utf8')).toContain('127.77.1.2 two\n')
})
