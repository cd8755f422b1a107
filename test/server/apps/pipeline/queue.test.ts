import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { deploySource, liveSource } from '../../../support/fake-source.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({ CP_BUILD_CONCURRENCY: '1' })
})
afterAll(() => platform.close())

const cancel = (service: TestService, deployId: string) => service.ask(`/deploys/${deployId}/cancel`, { method: 'POST' })
const running = (deployId: string) => platform.machine.running().filter((id) => id.includes(deployId))
const build = (service: TestService, buildCommand: string) =>
  service.ask('', { method: 'PATCH', json: { serviceDetails: { envSpecificDetails: { buildCommand } } } })

/** A worker, which is healthy without a port: nobody can connect to what runs in memory. */
const makeWorker = (name: string, details: Record<string, unknown> = {}) =>
  makeService(platform, {
    name,
    type: 'background_worker',
    serviceDetails: { runtime: 'node', envSpecificDetails: { buildCommand: 'exit 0', startCommand: 'serve', ...details } },
  })

/** One that builds and does not come to an end with it. */
async function building(name: string): Promise<{ service: TestService; first: string }> {
  const service = await makeWorker(name, { buildCommand: 'serve' })
  const first = await deploySource(platform, service)
  await until('the build runs', () => running(first).length > 0)
  return { service, first }
}

test('a deploy canceled during its pre-deploy command ends', async () => {
  const service = await makeWorker('in-pre', { preDeployCommand: 'serve' })
  const deployId = await deploySource(platform, service)
  await until('the command runs', () => running(deployId).length > 0)
  await service.reaches(deployId, 'pre_deploy_in_progress')
  await cancel(service, deployId)
  expect(await service.ends(deployId)).toMatchObject({ status: 'canceled' })
  expect(running(deployId)).toEqual([])
})

describe('while another deploy is at work', () => {
  test('a queued one is canceled without ever having begun', async () => {
    const { service, first } = await building('queued')
    const waiting = await deploySource(platform, service)
    expect((await service.deploy(waiting)).status).toBe('queued')
    expect((await cancel(service, waiting)).body).toMatchObject({ status: 'canceled' })
    expect((await service.deploy(first)).status).toBe('build_in_progress')
    await cancel(service, first)
    await service.ends(first)
    expect(await service.deploy(waiting)).not.toHaveProperty('startedAt')
  })

  test('a newer one replaces the queued one, and is the next', async () => {
    const { service, first } = await building('replaced')
    const waiting = await deploySource(platform, service, 'two')
    const newest = await deploySource(platform, service, 'three')
    expect(await service.deploy(waiting)).toMatchObject({ status: 'canceled', reason: `Replaced by ${newest}.` })
    await build(service, 'exit 0')
    await cancel(service, first)
    expect((await service.ends(newest)).status).toBe('live')
    expect(await service.deploy(waiting)).not.toHaveProperty('startedAt')
  })
})

test('a deploy that has ended cannot be canceled', async () => {
  const service = await makeWorker('ended')
  const { id } = await liveSource(platform, service)
  expect(await cancel(service, id)).toMatchObject({ status: 409, body: { message: `Deploy ${id} has already ended (live).` } })
  expect((await service.deploy(id)).status).toBe('live')
  await service.settles('running')
})
