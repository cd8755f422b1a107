import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CronJobRun } from '../../../../shared/cron.ts'
import type { Job } from '../../../../shared/job.ts'
import type { Service } from '../../../../shared/service.ts'
import type { ServiceDetailsInput } from '../../../../shared/service-details.ts'
import { call } from '../../../support/client.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { liveSource } from '../../../support/fake-source.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform()
})
afterAll(() => platform.close())

const DISTANT = '0 0 1 1 *'

/** A cron job that runs once a year unless told otherwise, and is live. */
async function liveCron(name: string, details: ServiceDetailsInput = {}, startCommand = 'print ran'): Promise<TestService> {
  const serviceDetails = { schedule: DISTANT, envSpecificDetails: { startCommand }, maxShutdownDelaySeconds: 1, ...details }
  const service = await makeService(platform, { name, type: 'cron_job', serviceDetails })
  await liveSource(platform, service)
  return service
}

const runs = <T = CronJobRun>({ id }: TestService, method = 'GET', query = '') =>
  call<T>(`${platform.url}/v1/cron-jobs/${id}/runs${query}`, { method, token: platform.adminToken })
const history = async (service: TestService): Promise<CronJobRun[]> =>
  (await runs<{ cronJobRun: CronJobRun }[]>(service)).body.map(({ cronJobRun }) => cronJobRun)
const runEnd = (service: TestService, id: string): Promise<CronJobRun> =>
  until(`run ${id} is over`, async () => (await history(service)).find((run) => run.id === id && run.finishedAt !== undefined))
const details = async (service: TestService) => (await service.ask<Service>('')).body.serviceDetails
const patch = (service: TestService, serviceDetails: ServiceDetailsInput) =>
  service.ask<Service>('', { method: 'PATCH', json: { serviceDetails } })
/** Has the next time of its schedule come now. */
function letItFallDue(service: TestService): void {
  platform.db.query('UPDATE cron_jobs SET next_due_at = ? WHERE service_id = ?').run(Date.now(), service.id)
  platform.context.work.poke('jobs', service.id)
}

describe('a cron job', () => {
  test('is a service with ids of its own, live without an instance once it is built, and runs on demand', async () => {
    const service = await liveCron('nightly', { timezone: 'Europe/Berlin' }, 'printenv; wait 200')
    expect(service.id).toMatch(/^crn-[0-9a-v]{20}$/)
    expect(await service.instances()).toEqual([])
    const year = new Date().getUTCFullYear() + 1
    expect(await details(service)).toMatchObject({
      schedule: DISTANT,
      timezone: 'Europe/Berlin',
      overlapPolicy: 'skip',
      plan: 'starter',
      nextRunAt: `${year - 1}-12-31T23:00:00.000Z`,
    })
    const { status, body } = await runs(service, 'POST')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'pending',
      triggeredBy: expect.stringMatching(/^usr-/),
    })
    const env = await until('it runs', () => platform.machine.runs.get(body.id)?.env)
    expect(env.CPD_SERVICE_TYPE).toBe('cron_job')
    const ended = await runEnd(service, body.id)
    expect(ended).toMatchObject({ status: 'successful', exitCode: 0 })
    expect((await details(service)).lastSuccessfulRunAt).toBe(ended.finishedAt)
    const told = (await service.events()).filter(({ details: { cronJobRunId } }) => cronJobRunId === body.id)
    expect(told.map(({ type, details: { status: one } }) => [type, one])).toEqual([
      ['cron_job_run_started', undefined],
      ['cron_job_run_ended', 'successful'],
    ])
  })

  test('takes one-off jobs as well, which are no runs of it', async () => {
    const service = await liveCron('both')
    const job = await service.ask<Job>('/jobs', { json: { startCommand: 'exit 0' } })
    expect(job.status).toBe(201)
    expect(await history(service)).toEqual([])
    const { body } = await runs(service, 'POST')
    await runEnd(service, body.id)
    expect((await service.ask(`/jobs/${body.id}`)).status).toBe(404)
  })

  test('whose command fails tells so, and its last success stays', async () => {
    const service = await liveCron('fails', {}, 'exit 4')
    const { body } = await runs(service, 'POST')
    expect(await runEnd(service, body.id)).toMatchObject({ status: 'unsuccessful', exitCode: 4, reason: 'It exited with code 4.' })
    expect(await details(service)).not.toHaveProperty('lastSuccessfulRunAt')
    const unsuccessful = await runs<{ cronJobRun: CronJobRun }[]>(service, 'GET', '?status=unsuccessful')
    expect(unsuccessful.body.map(({ cronJobRun: { id } }) => id)).toEqual([body.id])
    expect((await runs<unknown[]>(service, 'GET', '?status=successful')).body).toEqual([])
  })

  test('cannot be restarted or scaled, and what is none has no runs', async () => {
    const service = await liveCron('no-instances')
    expect(await service.ask('/restart', { method: 'POST' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('cpctl cron trigger') },
    })
    expect((await service.ask('/scale', { json: { numInstances: 2 } })).status).toBe(409)
    const web = await makeService(platform, { name: 'web' })
    expect((await runs(web)).status).toBe(404)
    expect((await runs(web, 'POST')).status).toBe(404)
    const fresh = await makeService(platform, { name: 'fresh', type: 'cron_job', serviceDetails: { schedule: '@daily' } })
    expect(await runs(fresh, 'POST')).toMatchObject({
      status: 409,
      body: { message: 'Nothing of this service is live yet. Deploy it first.' },
    })
    expect(await details(fresh)).not.toHaveProperty('nextRunAt')
  })
})

describe('a run that falls due while another is under way', () => {
  const long = 'print up; serve'
  const isUp = (id: string) => platform.machine.running().includes(id)
  async function withRun(name: string, overlapPolicy: 'skip' | 'allow' | 'replace') {
    const service = await liveCron(name, { overlapPolicy }, long)
    const { body } = await runs(service, 'POST')
    await until('it runs', () => isUp(body.id))
    return { service, first: body.id }
  }

  test('is left out with skip, and a run on demand is refused', async () => {
    const { service, first } = await withRun('skips', 'skip')
    expect(await runs(service, 'POST')).toMatchObject({ status: 409, body: { message: expect.stringContaining(first) } })
    letItFallDue(service)
    const [skip] = await until('it is told', async () => {
      const skips = (await service.events()).filter(({ type }) => type === 'cron_job_run_skipped')
      return skips.length > 0 && skips
    })
    expect(skip?.details.reason).toBe('The platform was away or busy then. It is too late to make up for it.')
    expect((await history(service)).map(({ id }) => id)).toEqual([first])
    expect((await runs(service, 'DELETE')).status).toBe(204)
    expect(await runEnd(service, first)).toMatchObject({
      status: 'canceled',
      reason: 'Canceled on request.',
      canceledBy: expect.stringMatching(/^usr-/),
    })
    expect((await runs(service, 'DELETE')).status).toBe(204)
  })

  test('runs beside it with allow', async () => {
    const { service, first } = await withRun('allows', 'allow')
    const second = (await runs(service, 'POST')).body.id
    await until('both run', () => isUp(first) && isUp(second))
    expect((await history(service)).map(({ id, status }) => [id, status])).toEqual([
      [second, 'pending'],
      [first, 'pending'],
    ])
  })

  test('takes its place with replace, when it has ended', async () => {
    const { service, first } = await withRun('replaces', 'replace')
    const second = (await runs(service, 'POST')).body.id
    expect(await runEnd(service, first)).toMatchObject({ status: 'canceled', reason: `Replaced by ${second}.` })
    await until('the other runs', () => isUp(second))
  })
})

describe('the schedule', () => {
  test('is in force at once with PATCH, and needs no deploy', async () => {
    const service = await liveCron('patched')
    const { status, body } = await patch(service, { schedule: '0 12 1 6 *', timezone: 'Asia/Tokyo', overlapPolicy: 'allow' })
    expect(status).toBe(200)
    expect(body.serviceDetails).toMatchObject({ schedule: '0 12 1 6 *', timezone: 'Asia/Tokyo', overlapPolicy: 'allow' })
    await until('the next time is another', async () => (await details(service)).nextRunAt?.endsWith('-06-01T03:00:00.000Z'))
    expect((await service.ask<unknown[]>('/deploys')).body).toHaveLength(1)
  })

  test('stays as it is when a release before is gone back to', async () => {
    const service = await liveCron('rolled-back')
    await liveSource(platform, service, 'another app')
    await patch(service, { schedule: '30 3 * * *' })
    const rollback = await service.ask<{ id: string }>('/rollback', { method: 'POST' })
    await service.reaches(rollback.body.id, 'live')
    expect(await details(service)).toMatchObject({ schedule: '30 3 * * *' })
  })

  test('rests while the service is suspended, and goes on from now when it is resumed', async () => {
    const service = await liveCron('rests', { schedule: '@hourly' })
    await service.ask('/suspend', { method: 'POST' })
    await until('nothing is due', async () => (await details(service)).nextRunAt === undefined)
    expect((await runs(service, 'POST')).status).toBe(409)
    await service.ask('/resume', { method: 'POST' })
    const next = await until('the next time is known', async () => (await details(service)).nextRunAt)
    expect(Date.parse(next)).toBeGreaterThan(Date.now() - 1000)
    expect(await history(service)).toEqual([])
  })

  test.each([
    [{}, '/serviceDetails/schedule', 'needs a schedule'],
    [{ schedule: '' }, '/serviceDetails/schedule', 'five fields'],
    [{ schedule: '0 0 30 2 *' }, '/serviceDetails/schedule', 'never runs'],
    [{ schedule: '* * * * * *' }, '/serviceDetails/schedule', 'no seconds'],
    [{ schedule: '@daily', timezone: 'Mars/Olympus' }, '/serviceDetails/timezone', 'no time zone'],
    [{ schedule: '@daily', numInstances: 2 }, '/serviceDetails/numInstances', 'has no numInstances'],
  ])('that is bad is refused by name: %j', async (serviceDetails, path, message) => {
    const json = { type: 'cron_job', name: 'bad', serviceDetails }
    const reply = await call<{ details: { path: string; message: string }[] }>(`${platform.url}/v1/services`, {
      json,
      token: platform.adminToken,
    })
    expect(reply.status).toBe(400)
    expect(reply.body.details).toEqual([{ path, message: expect.stringContaining(message) }])
  })

  test('belongs to cron jobs only', async () => {
    const json = { type: 'background_worker', name: 'bad', serviceDetails: { schedule: '@daily' } }
    const reply = await call(`${platform.url}/v1/services`, { json, token: platform.adminToken })
    expect(reply).toMatchObject({ status: 400, body: { message: 'A background_worker has no schedule.' } })
  })
})

test('no error of our own was logged through all of this', () => {
  expect(platform.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
