import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeServiceWithDisk } from '../../../support/disks.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

test('a disk that cannot be made is told of once, and made as soon as it can be', async () => {
  const { disks } = platform.context.paths
  renameSync(disks, `${disks}.away`)
  writeFileSync(disks, '')
  const { service, disk } = await makeServiceWithDisk(platform, 'waits')
  const failures = async () => (await service.events()).filter(({ type }) => type === 'disk_create_failed')
  const [failed] = await until('it is told', async () => {
    const found = await failures()
    return found.length > 0 && found
  })
  expect(failed?.details).toMatchObject({ diskId: disk.id, reason: expect.stringContaining('log') })
  // Again, as the driver does by itself.
  platform.context.work.poke('disk', disk.id)
  rmSync(disks)
  renameSync(`${disks}.away`, disks)
  await until('it is made', async () => (await service.events()).some(({ type }) => type === 'disk_created'))
  expect(await failures()).toHaveLength(1)
})
