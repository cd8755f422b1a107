import { statSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceById } from '../../../../server/apps/services/store.ts'
import { candidatesOf } from '../../../../server/apps/space/candidates.ts'
import { recordDirIn } from '../../../../server/engines/process/records/record.ts'
import { layerOf } from '../../../../server/engines/process/writable-layer.ts'
import { measureFolders, measureRemoved } from '../../../../server/runtime/space/measure.ts'
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
  const measured = async (jobId: string) => {
    const candidate = (await candidatesOf(platform.context)).find(({ id }) => id === service.id)
    const sizes = await measureFolders(candidate?.folders ?? [], 'bytes', AbortSignal.timeout(LIMIT_MS))
    expect(candidate?.folders.filter((folder) => !sizes.has(folder))).toEqual([])
    return sizes.get(layerOf(recordDirIn(platform.context.paths.engineState, jobId))) ?? 0
  }

  test(
    'is measured with its service: of a job',
    async ({ skip }) => {
      if (!hasLayers) skip()
      const startCommand = `head -c ${WRITTEN_BYTES} /dev/zero >beside; exec sleep 600`
      const { body } = await service.ask<Job>('/jobs', { method: 'POST', json: { startCommand } })
      await until('its layer is measured', async () => (await measured(body.id)) >= WRITTEN_BYTES)
      await service.ask(`/jobs/${body.id}/cancel`, { method: 'POST' })
    },
    LIMIT_MS,
  )

  test(
    'is measured with its service: of a job on a terminal, removed files that are open included',
    async ({ skip }) => {
      if (!hasLayers) skip()
      const job = await terminal(
        `head -c ${WRITTEN_BYTES} /dev/zero >beside; exec 3>gone; rm gone; head -c ${WRITTEN_BYTES} /dev/zero >&3; echo written; exec sleep 600`,
      )
      await job.prints('written')
      const { body } = await service.ask<{ job: Job }[]>('/jobs?limit=1')
      expect(await measured(body[0]?.job.id ?? '')).toBeGreaterThanOrEqual(WRITTEN_BYTES)
      const { services } = platform.context.paths
      const uid = serviceById(platform.context.db, service.id)?.uid ?? 0
      const removed = measureRemoved(new Set([uid]), { device: statSync(services).dev, folder: services })
      expect(removed.get(uid)).toBeGreaterThanOrEqual(WRITTEN_BYTES)
      job.socket.close()
    },
    LIMIT_MS,
  )
})
