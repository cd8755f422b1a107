import { afterAll, beforeAll, expect, test } from 'vitest'
import { diskApp, makeServiceWithDisk } from '../../../support/disks.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_HEALTH_TIMEOUT_SECONDS: '10' })
})
afterAll(() => platform.close())

test('a disk outlives deploys and restarts, comes back from a snapshot and grows, whatever the machine allows', async () => {
  const preDeployCommand = 'cd "$CPD_DISK_PATH" && { [ -e state ] || echo migrated >state; }'
  const { service, disk } = await makeServiceWithDisk(platform, 'anywhere', { preDeployCommand })
  const visit = (path: string): Promise<string> =>
    until(`${path} is answered`, async () => {
      const { status, text } = await platform.ingress.visit('anywhere.localhost', path)
      return status === 200 && text
    })
  await service.goLive('hello-js', diskApp)
  const { root } = JSON.parse(await visit('/where')) as { root: string }
  const { volumes } = platform.context.engine
  const isMounted = volumes.pathOf({ volumeId: disk.id, mountPath: '/var/data' }) === '/var/data'
  expect(root === '/var/data').toBe(isMounted)
  expect(await visit('/get?state')).toBe('migrated\n')
  await visit('/make')
  const hash = await visit('/hash')
  const second = await service.goLive('hello-js', { ...diskApp, 'note.txt': 'second' })
  expect(second.rollout).toMatchObject({ strategy: 'stop_first', gapMs: expect.any(Number) })
  expect(await visit('/hash')).toBe(hash)

  const { status, snapshotKey } = await disk.snapshot()
  expect(status).toBe('available')
  await visit('/put?later=lost')
  await disk.restore(snapshotKey)
  expect(await visit('/hash')).toBe(hash)

  await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
  expect((await disk.isAvailable()).sizeGB).toBe(2)
  expect(await visit('/hash')).toBe(hash)
  const missing = (await platform.context.engine.guarantees()).filter(({ holds }) => !holds)
  const [newest] = volumes.capabilities.kinds
  expect(missing.map(({ id }) => id).filter((id) => id === 'disk-path' || id === 'disk-size')).toEqual([
    ...(isMounted ? [] : ['disk-path']),
    ...(newest.isBounded ? [] : ['disk-size']),
  ])
}, 120_000)
