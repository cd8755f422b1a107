import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import type { CronJobRun } from '../../shared/cron.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, ownEnv, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, serviceNamed } from '../support/compiled-steps.ts'
import { until } from '../support/until.ts'

const MINUTE_MS = 60_000
/** The first deploy has this long before the first run. */
const BEFORE_FIRST_MS = 20_000

/** libfaketime moves the clock of what is started from now on, so that nobody waits for whole minutes. Timers go on as they do. */
const env: Record<string, string> = {
  ...ownEnv(),
  LD_PRELOAD: `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`,
  DONT_FAKE_MONOTONIC: '1',
}

/** Has executables that are started from now on begin at a time, in milliseconds since 1970. */
function moveClock(time: number): void {
  const seconds = (time - Date.now()) / 1000
  env.FAKETIME = `${seconds < 0 ? '' : '+'}${seconds}`
}

let cpd: Compiled
let app: AppFolder
beforeAll(async () => {
  moveClock(Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS - BEFORE_FIRST_MS)
  cpd = await startCompiled({ baseEnv: env })
  app = copyApp('hello-js')
})
afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const cronRuns = async (id: string): Promise<CronJobRun[]> =>
  (await cpd.api<{ cronJobRun: CronJobRun }[]>(`/cron-jobs/${id}/runs?limit=100`)).body.map(({ cronJobRun }) => cronJobRun)

test('a cron job runs on time, and once for a time at which the control plane was dead', async () => {
  const settings = ['--type', 'cron_job', '--schedule', '* * * * *', '--timezone', 'Europe/Berlin']
  await deployFolder(cpd, app.dir, ['--service', 'minutely', ...settings, '--start-command', 'echo ran >> $HOME/runs'])
  const { id, serviceDetails } = await serviceNamed(cpd, 'minutely')
  expect(Date.parse(serviceDetails.nextRunAt ?? '') % MINUTE_MS).toBe(0)
  const ended = (dueAt: number) =>
    until(
      `the run of ${new Date(dueAt).toISOString()} is over`,
      async () => (await cronRuns(id)).find((run) => Date.parse(run.dueAt ?? '') === dueAt && run.finishedAt !== undefined),
      90_000,
    )

  const first = Date.parse(serviceDetails.nextRunAt ?? '')
  const onTime = await ended(first)
  expect(onTime).toMatchObject({ status: 'successful', triggeredBy: 'schedule' })
  expect(Date.parse(onTime.startedAt ?? '')).toBeGreaterThanOrEqual(first)

  // The control plane is dead at the next minute, and back some seconds after it.
  const second = first + MINUTE_MS
  await cpd.kill9()
  moveClock(second + 2000)
  await cpd.start()
  expect(await ended(second)).toMatchObject({ status: 'successful', triggeredBy: 'schedule' })

  await cpctl(cpd, 'services', 'suspend', 'minutely')
  const all = await cronRuns(id)
  expect(new Set(all.map(({ dueAt }) => dueAt)).size).toBe(all.length)
  const { home } = servicePathsOf(cpd.paths, id)
  expect(existsSync(join(home, 'runs'))).toBe(true)
  expect((await Bun.file(join(home, 'runs')).text()).split('\n').length - 1).toBe(
    all.filter(({ status }) => status === 'successful').length,
  )
})

test('cpctl cron shows, changes and triggers it', async () => {
  await cpctl(cpd, 'services', 'resume', 'minutely')
  expect(await cpctl(cpd, 'cron', 'set', 'minutely', '@yearly', '--timezone', 'UTC', '--overlap', 'replace')).toBe(
    'minutely runs at @yearly in UTC; overlaps: replace.\n',
  )
  await until('the next run is far away', async () => /minutely +@yearly +UTC +replace +in \d+d/.test(await cpctl(cpd, 'cron', 'list')))
  expect((await cpd.cpctl(['cron', 'trigger', 'minutely', '--follow'])).exitCode).toBe(0)
  expect(await cpctl(cpd, 'cron', 'runs', 'minutely')).toMatch(/successful +0 +usr-/)
})
