import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import type { Job } from '../../../../shared/job.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { jobEnd, linesOf, runJob } from './job-steps.ts'

let platform: Platform
let web: TestService
beforeAll(async () => {
  platform = await startPlatform()
  web = await makeService(platform, {
    name: 'web',
    envVars: [{ key: 'COLOUR', value: 'blue' }],
    secretFiles: [{ name: 'token', content: 'in a file' }],
    serviceDetails: { maxShutdownDelaySeconds: 1 },
  })
  await web.goLive('hello-js', { VERSION: '1\n' })
})
afterAll(() => platform.close())

const own = (service: TestService) => servicePathsOf(platform.context.paths, service.id)
const lines = (service: TestService, job: Pick<Job, 'id'>) => linesOf(platform, service, job.id)

describe('a job', () => {
  test('runs its command in the live release, with its files, variables, secret files and user', async () => {
    const job = await runJob(
      web,
      'cat VERSION; echo $COLOUR; cat $CPD_SECRETS_DIR/token; echo; echo $CPD_INSTANCE_ID; echo "$CPD_SERVICE_NAME"',
    )
    expect(job).toMatchObject({ status: 'pending', planId: 'starter', serviceId: web.id })
    const ended = await jobEnd(web, job)
    expect(ended).toMatchObject({ status: 'succeeded', exitCode: 0 })
    expect(ended).not.toHaveProperty('reason')
    expect(Date.parse(ended.finishedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(ended.startedAt ?? ''))
    expect(await lines(web, job)).toEqual(['1', 'blue', 'in a file', job.id, 'web'])
  })

  test('has no line of its output missing once its end is told, the last one without a line end included', async () => {
    const job = await jobEnd(web, await runJob(web, 'i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; printf last'))
    const written = await linesOf(platform, web, job.id)
    expect(written).toHaveLength(3001)
    expect(written.at(-1)).toBe('last')
    expect(readdirSync(own(web).output).filter((name) => name.startsWith('job-'))).toEqual([])
    // Its end is told before the engine forgets it.
    const isKnown = async () => (await platform.context.engine.list()).some(({ instanceId }) => instanceId === job.id)
    await until('the engine has forgotten it', async () => !(await isKnown()))
  })

  test.each([
    ['exit 3', { status: 'failed', exitCode: 3, reason: 'It exited with code 3.' }],
    ['kill -KILL $$', { status: 'failed', reason: 'It was ended by SIGKILL.' }],
    ['no-such-program', { status: 'failed', exitCode: 127 }],
  ])('that ends badly says how: %s', async (command, expected) => {
    expect(await jobEnd(web, await runJob(web, command))).toMatchObject(expected)
  })

  test('that cannot be started says why, and leaves no file of its output', async () => {
    const { releases, output } = own(web)
    const [release] = readdirSync(releases).map((name) => join(releases, name))
    renameSync(`${release}`, `${release}.away`)
    writeFileSync(`${release}`, 'no folder')
    try {
      const ended = await jobEnd(web, await runJob(web, 'true'))
      expect(ended).toMatchObject({ status: 'failed', reason: expect.stringContaining('It could not be started.') })
    } finally {
      rmSync(`${release}`)
      renameSync(`${release}.away`, `${release}`)
    }
    expect(readdirSync(output).filter((name) => name.startsWith('job-'))).toEqual([])
  })

  test('that is canceled gets SIGTERM, and what ignores it is killed', async () => {
    const obedient = await runJob(web, 'trap "echo bye; exit 7" TERM; echo up; while :; do sleep 0.05; done')
    const stubborn = await runJob(web, 'trap "" TERM; echo up; while :; do sleep 0.05; done')
    for (const job of [obedient, stubborn]) {
      await until('it runs', async () => (await lines(web, job)).includes('up'))
      const { status, body } = await web.ask<Job>(`/jobs/${job.id}/cancel`, { method: 'POST' })
      expect(status).toBe(200)
      expect(['running', 'canceled']).toContain(body.status)
    }
    expect(await jobEnd(web, obedient)).toMatchObject({ status: 'canceled', exitCode: 7, reason: 'Canceled on request.' })
    expect((await lines(web, obedient)).at(-1)).toBe('bye')
    const killed = await jobEnd(web, stubborn)
    expect(killed).toMatchObject({ status: 'canceled' })
    expect(killed).not.toHaveProperty('exitCode')
    expect((await web.ask(`/jobs/${stubborn.id}/cancel`, { method: 'POST' })).status).toBe(409)
  })

  test('takes processes with it that it left in the background', async () => {
    const job = await jobEnd(web, await runJob(web, '(while :; do date > $HOME/alive; sleep 0.02; done) & sleep 0.2; echo done'))
    expect(job.status).toBe('succeeded')
    const alive = join(own(web).home, 'alive')
    const before = await Bun.file(alive).stat()
    await Bun.sleep(200)
    expect((await Bun.file(alive).stat()).mtimeMs).toBe(before.mtimeMs)
  })

  test('starts are told as events, and so are ends', async () => {
    const job = await jobEnd(web, await runJob(web, 'exit 1'))
    const mine = (await web.events()).filter(({ details }) => details.jobId === job.id)
    expect(mine).toEqual([
      { type: 'job_run_started', details: { jobId: job.id } },
      { type: 'job_run_ended', details: { jobId: job.id, status: 'failed', exitCode: 1, reason: 'It exited with code 1.' } },
    ])
  })
})

describe('many jobs', () => {
  test('run ten at a time; the others wait and come in turn, and one that waits is canceled at once', async () => {
    const gate = join(own(web).home, 'gate')
    const jobs: Job[] = []
    for (let index = 0; index < 12; index++) jobs.push(await runJob(web, `while [ ! -e $HOME/gate ]; do sleep 0.05; done`))
    const status = async () => Promise.all(jobs.map(async ({ id }) => (await web.ask<Job>(`/jobs/${id}`)).body.status))
    await until('ten run', async () => (await status()).filter((one) => one === 'running').length === 10)
    expect((await status()).slice(10)).toEqual(['pending', 'pending'])
    const canceled = await web.ask<Job>(`/jobs/${jobs[10]?.id}/cancel`, { method: 'POST' })
    expect(canceled.body).toMatchObject({ status: 'canceled' })
    await Bun.write(gate, '')
    const ends = await Promise.all(jobs.map((job) => jobEnd(web, job)))
    expect(ends.map(({ status: one }) => one)).toEqual([...Array(10).fill('succeeded'), 'canceled', 'succeeded'])
  })

  test('are listed newest first, by status and time, in pages', async () => {
    const first = await jobEnd(web, await runJob(web, 'true'))
    const second = await jobEnd(web, await runJob(web, 'false'))
    const list = async (query: string) => (await web.ask<{ job: Job; cursor: string }[]>(`/jobs?${query}`)).body
    const [newest] = await list('limit=1')
    expect(newest?.job.id).toBe(second.id)
    expect((await list(`limit=1&cursor=${newest?.cursor}`))[0]?.job.id).toBe(first.id)
    expect((await list('status=failed&limit=1'))[0]?.job.id).toBe(second.id)
    expect(
      (await list(`status=succeeded,running&createdAfter=${new Date(Date.parse(first.createdAt) - 1).toISOString()}`)).map(
        ({ job }) => job.id,
      ),
    ).toEqual([first.id])
    expect(await list(`finishedAfter=${second.finishedAt}`)).toEqual([])
  })
})

describe('a service', () => {
  test('that cannot run jobs says so', async () => {
    const site = await makeService(platform, { name: 'site', type: 'static_site' })
    const fresh = await makeService(platform, { name: 'fresh' })
    const answers = await Promise.all([site, fresh].map((service) => service.ask('/jobs', { json: { startCommand: 'true' } })))
    expect(answers.map(({ status, body }) => ({ status, message: body.message }))).toEqual([
      { status: 409, message: 'A static site has nothing to run a job in: it is files only.' },
      { status: 409, message: 'Nothing of this service is live yet. Deploy it first.' },
    ])
    expect((await web.ask('/jobs', { json: { startCommand: ' \n' } })).status).toBe(400)
    expect((await web.ask('/jobs', { json: { startCommand: 'true', planId: 'huge' } })).status).toBe(400)
    // The plan has 32 GB.
    if (platform.context.machine.memoryBytes < 24 * 1024 ** 3)
      expect(await web.ask('/jobs', { json: { startCommand: 'true', planId: 'pro_ultra' } })).toMatchObject({
        status: 400,
        body: { details: [{ path: '/planId', message: expect.stringContaining('this machine has') }] },
      })
    expect((await fresh.ask(`/jobs/${(await runJob(web, 'true')).id}`)).status).toBe(404)
  })

  test('that is suspended cancels its jobs, those that run and those that wait, and takes no new ones until it is resumed', async () => {
    const service = await makeService(platform, { name: 'paused', serviceDetails: { maxShutdownDelaySeconds: 1 } })
    await service.goLive('hello-js')
    const jobs: Job[] = []
    for (let index = 0; index < 11; index++) jobs.push(await runJob(service, 'echo up; sleep 60'))
    await until('one runs', async () => (await linesOf(platform, service, jobs[0]?.id ?? '')).includes('up'))
    await service.ask('/suspend', { method: 'POST' })
    for (const job of jobs) expect(await jobEnd(service, job)).toMatchObject({ status: 'canceled', reason: 'The service was suspended.' })
    const refused = await service.ask('/jobs', { json: { startCommand: 'true' } })
    expect(refused).toMatchObject({ status: 409, body: { message: 'The service is suspended. Resume it first.' } })
    await service.ask('/resume', { method: 'POST' })
    expect(await jobEnd(service, await runJob(service, 'true'))).toMatchObject({ status: 'succeeded' })
  })

  test('that is deleted is gone only when nothing of its jobs is left', async () => {
    const service = await makeService(platform, { name: 'gone', serviceDetails: { maxShutdownDelaySeconds: 1 } })
    await service.goLive('hello-js')
    const job = await runJob(service, 'trap "" TERM; echo up; while :; do sleep 0.05; done')
    const waiting = await runJob(service, 'true')
    await until('it runs', async () => (await lines(service, job)).includes('up'))
    const { root } = own(service)
    expect((await service.ask('', { method: 'DELETE' })).status).toBe(204)
    await until('its folder is gone', () => !existsSync(root))
    const left = await platform.context.engine.list()
    expect(left.filter(({ ownerId }) => ownerId === service.id)).toEqual([])
    // The rows go last, once the quota is lifted as well.
    await until(
      'its jobs are forgotten',
      () => platform.db.query('SELECT id FROM jobs WHERE id IN (?, ?)').all(job.id, waiting.id).length === 0,
    )
  })

  test('keeps the release in which a job runs, however many deploys come meanwhile', async () => {
    const tight = await startPlatform({ CP_RELEASES_KEPT: '2' })
    try {
      const service = await makeService(tight, { name: 'long' })
      await service.goLive('hello-js', { VERSION: 'first\n' })
      const job = await runJob(service, 'echo up; while [ ! -e $HOME/gate ]; do sleep 0.05; done; cat VERSION')
      await until('it runs', async () => (await linesOf(tight, service, job.id)).includes('up'))
      for (const version of ['second\n', 'third\n', 'fourth\n']) await service.goLive('hello-js', { VERSION: version })
      const paths = servicePathsOf(tight.context.paths, service.id)
      expect(readdirSync(paths.releases)).toHaveLength(3)
      await Bun.write(join(paths.home, 'gate'), '')
      expect(await jobEnd(service, job)).toMatchObject({ status: 'succeeded' })
      expect(await linesOf(tight, service, job.id)).toEqual(['up', 'first'])
      await until('the release goes with the job', () => readdirSync(paths.releases).length === 2)
    } finally {
      await tight.close()
    }
  })
})

test('no error of our own was logged through all of this', () => {
  expect(platform.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})
