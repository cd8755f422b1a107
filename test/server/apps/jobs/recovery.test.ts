import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathsOf, servicePathsOf } from '../../../../server/platform/paths.ts'
import type { CronJobRun } from '../../../../shared/cron.ts'
import type { Event } from '../../../../shared/event.ts'
import type { Job } from '../../../../shared/job.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { commandLine, processesOf } from '../../../support/leftovers.ts'
import { servicesOn } from '../../../support/plane-services.ts'
import type { TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { jobEnd, linesOf, runJob } from './job-steps.ts'

let plane: ControlPlane
const services = servicesOn(() => plane)
const { now } = services
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(async () => {
  await services.removeAll()
  await plane.close()
})

const own = (service: { id: string }) => servicePathsOf(pathsOf(plane.dataDir), service.id)
const lines = (service: { id: string }, job: { id: string }) => linesOf(plane, service, job.id)

async function make(name: string, body: Record<string, unknown> = {}): Promise<TestService> {
  const service = await services.make(name, body)
  await service.goLive('hello-js')
  return service
}

/** Writes into the database of a control plane that is dead. */
function rewrite(sql: string, ...values: (string | number | null)[]): void {
  const db = new Database(pathsOf(plane.dataDir).controlDb)
  db.query(sql).run(...values)
  db.close()
}

const gated = 'echo begun; while [ ! -e $HOME/go ]; do sleep 0.02; done; echo ended; exit 5'

/** A job that has begun, and ends with 5 when told to. */
async function begin(service: TestService): Promise<Job> {
  const job = await runJob(service, gated)
  await until('it runs', async () => (await lines(service, job)).includes('begun'))
  return job
}

/** Waits until no gated command runs any more, and what it left has been told. */
async function hasEnded(): Promise<void> {
  await until('it has ended', () => !processesOf(plane.dataDir).some((pid) => commandLine(pid).includes('while [ ! -e')))
  await Bun.sleep(300)
}

test('a job goes on without the control plane, and the next one adopts it and records its end and all of its output', async () => {
  const service = await make('adopted')
  const job = await begin(service)
  await plane.kill()
  await plane.start()
  expect((await now(service).ask<Job>(`/jobs/${job.id}`)).body).toMatchObject({ status: 'running' })
  await Bun.write(join(own(service).home, 'go'), '')
  expect(await jobEnd(now(service), job)).toMatchObject({ status: 'failed', exitCode: 5, startedAt: expect.any(String) })
  expect(await lines(service, job)).toEqual(['begun', 'ended'])
})

test('a job that ends while the control plane is away is concluded by the next one, with the time of its end', async () => {
  const service = await make('ends-alone')
  const job = await begin(service)
  await plane.kill()
  await Bun.write(join(own(service).home, 'go'), '')
  await hasEnded()
  const startedAt = Date.now()
  await plane.start()
  const ended = await jobEnd(now(service), job)
  expect(ended).toMatchObject({ status: 'failed', exitCode: 5 })
  expect(Date.parse(ended.finishedAt ?? '')).toBeLessThan(startedAt)
  expect(await lines(service, job)).toEqual(['begun', 'ended'])
  expect(readdirSync(own(service).output).filter((name) => name.startsWith('job-'))).toEqual([])
})

test('a job that was about to start when the control plane died starts once', async () => {
  const service = await make('about-to')
  await plane.kill()
  // A control plane that dies between writing the start down and starting it leaves this.
  const id = 'job-00000000000000000001'
  rewrite(
    `INSERT INTO jobs (id, service_id, kind, start_command, phase, triggered_by, created_at, started_at)
     VALUES (?, ?, 'one_off', 'echo once >> $HOME/starts', 'starting', 'usr', 1, 2)`,
    id,
    service.id,
  )
  await plane.start()
  expect(await jobEnd(now(service), { id })).toMatchObject({ status: 'succeeded' })
  expect(await Bun.file(join(own(service).home, 'starts')).text()).toBe('once\n')
})

test('a job that was started when the control plane died, before that was written down, is adopted and not started again', async () => {
  const service = await make('unwritten')
  const job = await begin(service)
  await plane.kill()
  rewrite("UPDATE jobs SET phase = 'starting' WHERE id = ?", job.id)
  await plane.start()
  await Bun.write(join(own(service).home, 'go'), '')
  expect(await jobEnd(now(service), job)).toMatchObject({ exitCode: 5 })
  expect(await lines(service, job)).toEqual(['begun', 'ended'])
})

test('a job whose end was written down, but which the engine still has, is forgotten by the engine, and its output kept', async () => {
  const service = await make('written')
  const job = await begin(service)
  await plane.kill()
  await Bun.write(join(own(service).home, 'go'), '')
  await hasEnded()
  rewrite("UPDATE jobs SET phase = 'failed', exit_code = 5, finished_at = 3 WHERE id = ?", job.id)
  // An end is written down together with what its set wants from then on.
  rewrite("UPDATE workloads SET phase = 'ended' WHERE id = ?", job.id)
  rewrite('UPDATE sets SET replicas = 0, is_dropped = 1 WHERE id = ?', job.id)
  await plane.start()
  await until('the file is stored', () => readdirSync(own(service).output).every((name) => !name.startsWith('job-')))
  await until('the engine forgets it', () => !existsSync(join(pathsOf(plane.dataDir).engineState, 'instances', job.id)))
  expect(await lines(service, job)).toEqual(['begun', 'ended'])
})

test('a job that was being canceled when the control plane died is canceled by the next one', async () => {
  const service = await make('canceled', { serviceDetails: { maxShutdownDelaySeconds: 1 } })
  const job = await begin(service)
  await plane.kill()
  rewrite("UPDATE jobs SET stop_as = 'canceled', reason = 'Canceled on request.' WHERE id = ?", job.id)
  await plane.start()
  expect(await jobEnd(now(service), job)).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
})

test('a job that the machine took with it has failed, and the reason says so', async () => {
  const service = await make('reboot')
  const job = await begin(service)
  await plane.kill()
  // The process is of another run of the machine, with nobody left to tell how it ended.
  const record = join(pathsOf(plane.dataDir).engineState, 'instances', job.id)
  await Bun.write(join(own(service).home, 'go'), '')
  await hasEnded()
  const about = await Bun.file(join(record, 'about.json')).json()
  await Bun.write(join(record, 'about.json'), JSON.stringify({ ...about, bootId: 'another-run-of-the-machine' }))
  rmSync(join(record, 'exit'))
  await plane.start()
  const reason = 'The machine or the platform was stopped while it ran, so its end is not known.'
  expect(await jobEnd(now(service), job)).toMatchObject({ status: 'failed', reason })
})

const MINUTE_MS = 60_000

/** Has a cron job be due at this time, as if the control plane had died before it. */
const dueAt = (service: { id: string }, time: number) =>
  rewrite('UPDATE cron_jobs SET next_due_at = ? WHERE service_id = ?', time, service.id)

async function runsOf(service: { id: string }): Promise<CronJobRun[]> {
  const url = `${plane.url}/v1/cron-jobs/${service.id}/runs`
  const { body } = await call<{ cronJobRun: CronJobRun }[]>(url, { token: plane.adminToken })
  return body.map(({ cronJobRun }) => cronJobRun)
}

async function skipsOf(service: { id: string; name: string }): Promise<Event['details'][]> {
  return (await now(service).events()).filter(({ type }) => type === 'cron_job_run_skipped').map(({ details }) => details)
}

/** A cron job that writes down each of its runs. */
const cron = (name: string, schedule: string) =>
  make(name, { type: 'cron_job', serviceDetails: { schedule, envSpecificDetails: { startCommand: 'echo ran >> $HOME/runs' } } })

test('a cron job that fell due several times while the control plane was dead runs once, for the newest time', async () => {
  const service = await cron('caught-up', '* * * * *')
  await plane.kill()
  const newest = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  rewrite('DELETE FROM jobs WHERE service_id = ?', service.id)
  dueAt(service, newest - 5 * MINUTE_MS)
  const startedAt = Date.now()
  await plane.start()
  const made = await until('it has run', async () => (await runsOf(service)).find(({ status }) => status === 'successful'))
  // The next minute may have come meanwhile.
  expect(Date.parse(made.dueAt ?? '')).toBeGreaterThanOrEqual(newest)
  expect(made).toMatchObject({ triggeredBy: 'schedule', exitCode: 0 })
  const minutes = Math.floor(Date.now() / MINUTE_MS) - Math.floor(startedAt / MINUTE_MS)
  expect((await runsOf(service)).length).toBeLessThanOrEqual(1 + minutes)
  expect(await skipsOf(service)).toEqual([
    { dueAt: new Date(newest - 5 * MINUTE_MS).toISOString(), reason: expect.stringContaining('only the newest is made up for') },
  ])
})

test('a cron job whose time is more than an hour ago does not run, and that is told', async () => {
  const hour = new Date(Date.now() - 3 * 3_600_000).getUTCHours()
  const service = await cron('too-late', `0 ${hour} * * *`)
  await plane.kill()
  const missed = new Date(Date.now() - 3 * 3_600_000)
  missed.setUTCMinutes(0, 0, 0)
  dueAt(service, missed.getTime())
  await plane.start()
  await until('it is told', async () => (await skipsOf(service)).length > 0)
  expect(await skipsOf(service)).toEqual([{ dueAt: missed.toISOString(), reason: expect.stringContaining('too late') }])
  expect(await runsOf(service)).toEqual([])
})

test('a time whose run was written down is not run again, though it is still due', async () => {
  const service = await cron('once', '* * * * *')
  await plane.kill()
  const time = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  rewrite('DELETE FROM jobs WHERE service_id = ?', service.id)
  const id = 'job-00000000000000000002'
  rewrite(
    `INSERT INTO jobs (id, service_id, kind, phase, due_at, triggered_by, created_at, finished_at)
     VALUES (?, ?, 'cron', 'succeeded', ?, 'schedule', 1, 2)`,
    id,
    service.id,
    time,
  )
  dueAt(service, time)
  await plane.start()
  await until('the next time is known', async () => {
    const { body } = await now(service).ask<{ serviceDetails: { nextRunAt?: string } }>('')
    return Date.parse(body.serviceDetails.nextRunAt ?? '') > time
  })
  const ofThatTime = (await runsOf(service)).filter((run) => Date.parse(run.dueAt ?? '') === time)
  expect(ofThatTime.map((run) => run.id)).toEqual([id])
})

test('no error was logged through all of this', () => {
  const errors = plane
    .logged()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
  expect(errors).toEqual([])
})
