import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clearUpAfterFullest } from '../../../../server/apps/space/clear-up.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { packApp, upload } from '../../../support/apps.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { makeService } from '../../../support/service.ts'

const MIB = 1024 * 1024

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform()
})
afterAll(() => platform.close())

/** A service with two uploads of so many MiB, in words that do not get smaller. */
async function keeping(name: string, mib: number) {
  const service = await makeService(platform, { name })
  const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(65_536))).toString('hex')
  for (let round = 0; round < 2; round++) {
    const files = { 'data.txt': Array.from({ length: mib * 16 }, noise).join('') }
    expect(await upload(platform, service.id, await packApp('hello-js', files), { query: '?deploy=false' })).toMatchObject({ status: 201 })
  }
  return servicePathsOf(platform.context.paths, service.id)
}

test('what was pushed to a service counts in what it has, and stays when its older uploads go first', async () => {
  const [pushed, other] = [await keeping('pushed', 2), await keeping('other', 3)]
  mkdirSync(pushed.git)
  writeFileSync(join(pushed.git, 'pack'), Buffer.alloc(8 * MIB, 'x'))
  expect(await clearUpAfterFullest(platform.context, 'bytes')).toBe(true)
  expect([pushed, other].map(({ sources }) => readdirSync(sources).length)).toEqual([1, 2])
  expect(readdirSync(pushed.git)).toEqual(['pack'])
  expect(await clearUpAfterFullest(platform.context, 'bytes')).toBe(true)
  expect(readdirSync(other.sources)).toHaveLength(1)
  expect(await clearUpAfterFullest(platform.context, 'bytes')).toBe(false)
})
