import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestOfDeployLog } from '../../../../server/apps/deploys/deploy-log.ts'
import { listReleases } from '../../../../server/apps/deploys/release-store.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { deploySource, liveSource } from '../../../support/fake-source.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({ CP_RELEASES_KEPT: '2' })
})
afterAll(() => platform.close())

const makeWorker = (name: string, buildCommand: string) =>
  makeService(platform, {
    name,
    type: 'background_worker',
    serviceDetails: { envSpecificDetails: { buildCommand, startCommand: 'serve' }, maxShutdownDelaySeconds: 1 },
  })

test('a deploy that is built and run in memory lays nothing on the disk, and keeps the releases in use', async () => {
  const service = await makeWorker('light', 'print building')
  const { context } = platform
  for (const content of ['one', 'two', 'three']) await liveSource(platform, service, content)
  await until('the old release is gone', () => listReleases(context.db, service.id).length === 2)
  await service.settles('running')
  const kept = listReleases(context.db, service.id).map(({ artifact }) => context.artifacts.has(service.id, artifact))
  expect(kept).toEqual([true, true])
  const sizes = await context.artifacts.sizes([service.id], 'files', context.stopping)
  expect(sizes.get(service.id)).toBe(2)
  expect(existsSync(servicePathsOf(context.paths, service.id).root)).toBe(false)
})

test('a build command that fails is told as on a real machine', async () => {
  const service = await makeWorker('broken', 'exit 3')
  const deploy = await service.ends(await deploySource(platform, service))
  expect(deploy).toMatchObject({ status: 'build_failed', reason: 'Build failed: exit 3 exited with 3; see the build log' })
})

test('a build that was killed for its memory is told what it used and what to set', async () => {
  const service = await makeWorker('starved', 'use 12.5 4294967296; oom')
  const deploy = await service.ends(await deploySource(platform, service))
  expect(deploy).toMatchObject({
    status: 'build_failed',
    reason:
      'Build failed: use 12.5 4294967296; oom ran out of memory and was killed; its build plan starter has 4096 MiB: ' +
      'set buildPlan to performance, which has 16384 (cpctl services update starved --build-plan performance)',
  })
  const lines = await newestOfDeployLog(platform.context, { id: deploy.id, serviceId: service.id }, 10)
  expect(lines.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^ {4}used by build: \d+\.\d s, 12\.5 s of processor time, at most 4096 MiB of memory$/),
  )
})
