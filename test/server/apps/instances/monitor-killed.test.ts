import { afterAll, beforeAll, expect, test } from 'vitest'
import { processOf } from '../../../support/instance-process.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

test('an instance that dies as its monitor was killed is started again at once, and the events tell so', async () => {
  const service = await makeService(platform, { name: 'kept' })
  await service.goLive('hello-js')
  const [before] = await service.settles('running')
  process.kill(processOf(platform.context.paths, before?.id ?? '').parentPid, 'SIGKILL')
  const failed = await until('the events tell', async () => (await service.events()).find(({ type }) => type === 'server_failed'))
  expect(failed.details).toMatchObject({ instanceId: before?.id, exitCode: null, reason: expect.stringContaining('monitor') })
  const [after] = await service.settles('running')
  expect(after).toMatchObject({ id: before?.id, restarts: 0 })
})
