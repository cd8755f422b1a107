import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { candidatesOf } from '../../../../server/apps/space/candidates.ts'
import type { Job } from '../../../../shared/job.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { openShell } from '../../../support/shell.ts'
import { until } from '../../../support/until.ts'

const WRITTEN_BYTES = 3_000_000
const LIMIT_MS = 120_000

describe.runIf(process.getuid?.() === 0)('what a workload other than an instance writes beside its code', () => {
  let platform: Platform
  let service: TestService
  let hasLayers = false
  beforeAll(async () => {
    platform = await startPlatform()
    service = await makeService(platform, { name: 'web' })
    await service.goLive('hello-js')
    hasLayers = (await platform.context.engine.guarantees()).some(({ id, holds }) => id === 'writable-layer' && holds)
  }, LIMIT_MS)
  afterAll(() => platform.close(), LIMIT_MS)

  const terminal = (startCommand: string) => openShell(platform, service.id, { path: 'interactive-jobs', query: { startCommand } })
  const measured = async (): Promise<number> => {
    const owners = candidatesOf(platform.context).flatMap(({ id, owner }) => (id === service.id ? [owner] : []))
    const held = (await platform.context.engine.heldSpace(owners, 'bytes', AbortSignal.timeout(LIMIT_MS))).get(service.id)
    expect(held).toMatchObject({ isPartial: false })
    return held?.amount ?? 0
  }

  test(
    'is measured with its service: of a job',
    async ({ skip }) => {
      if (!hasLayers) skip()
      const before = await measured()
      const startCommand = `head -c ${WRITTEN_BYTES} /dev/zero >beside; exec sleep 600`
      const { body } = await service.ask<Job>('/jobs', { method: 'POST', json: { startCommand } })
      await until('its layer is measured', async () => (await measured()) >= before + WRITTEN_BYTES)
      await service.ask(`/jobs/${body.id}/cancel`, { method: 'POST' })
      await until('its layer has gone with it', async () => (await measured()) < before + WRITTEN_BYTES)
    },
    LIMIT_MS,
  )

  test(
    'is measured with its service: of a job on a terminal, removed files that are open included',
    async ({ skip }) => {
      if (!hasLayers) skip()
      const before = await measured()
      const job = await terminal(
        `head -c ${WRITTEN_BYTES} /dev/zero >beside; exec 3>gone; rm gone; head -c ${WRITTEN_BYTES} /dev/zero >&3; echo written; exec sleep 600`,
      )
      await job.prints('written')
      expect(await measured()).toBeGreaterThanOrEqual(before + 2 * WRITTEN_BYTES)
      job.socket.close()
    },
    LIMIT_MS,
  )
})
