import { afterEach, expect, test } from 'vitest'
import type { CronJobRun } from '../../shared/cron.ts'
import { AppError } from '../../shared/error.ts'
import type { Service } from '../../shared/service.ts'
import { exampleService, pageOf } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const cronId = 'crn-0b1c2d3e4f5g6h7i8j9k'
const cron = (fields: Partial<Service> = {}): Service =>
  exampleService({
    id: cronId,
    name: 'nightly',
    type: 'cron_job',
    serviceDetails: {
      buildPlan: 'starter',
      schedule: '0 3 * * *',
      timezone: 'Europe/Berlin',
      overlapPolicy: 'skip',
      nextRunAt: '2026-02-02T02:00:00.000Z',
      lastSuccessfulRunAt: '2026-02-01T02:00:10.000Z',
    },
    ...fields,
  })
const cronRun = (fields: Partial<CronJobRun> = {}): CronJobRun => ({
  id: 'job-0b1c2d3e4f5g6h7i8j9k',
  status: 'pending',
  createdAt: '2026-02-01T11:59:00.000Z',
  triggeredBy: 'schedule',
  ...fields,
})
const ended = cronRun({
  status: 'unsuccessful',
  startedAt: '2026-02-01T11:59:00.000Z',
  finishedAt: '2026-02-01T11:59:02.000Z',
  exitCode: 4,
  reason: 'It exited with code 4.',
})

function serving(answers: Answers) {
  const logs = { hasMore: false, nextStartTime: 'x', nextEndTime: 'y', logs: [] }
  server = startFakeServer(
    { listServices: () => pageOf('service', [cron()]), getService: () => cron(), listLogs: () => logs, ...answers },
    { webSocket: () => {} },
  )
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { columns: 200, ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

test('list shows schedules, and when they run next', async () => {
  const waiting = cron({
    name: 'fresh',
    serviceDetails: { buildPlan: 'starter', schedule: '@daily', timezone: 'UTC', overlapPolicy: 'allow' },
  })
  const run = serving({ listServices: () => pageOf('service', [cron(), waiting, cron({ name: 'off', suspended: 'suspended' })]) })
  expect((await run(['cron', 'list'])).stdout).toBe(
    `NAME     SCHEDULE   TIME ZONE      OVERLAP  NEXT RUN      LAST SUCCESS
nightly  0 3 * * *  Europe/Berlin  skip     in 14h        9h ago
fresh    @daily     UTC            allow    not deployed  -
off      0 3 * * *  Europe/Berlin  skip     suspended     9h ago
`,
  )
  expect(server.received.at(-1)?.query).toMatchObject({ type: ['cron_job'] })
})

test('runs shows the history', async () => {
  const run = serving({ listCronJobRuns: () => pageOf('cronJobRun', [ended]) })
  expect((await run(['cron', 'runs', 'nightly'])).stdout).toBe(
    `RUN                       STATUS        EXIT  TRIGGERED BY  STARTED   TOOK  REASON
job-0b1c2d3e4f5g6h7i8j9k  unsuccessful     4  schedule      1m ago   2.0 s  It exited with code 4.
`,
  )
})

test('trigger runs it now, and with --follow ends as the run did', async () => {
  const run = serving({ runCronJob: () => cronRun(), listCronJobRuns: () => pageOf('cronJobRun', [ended]) })
  expect((await run(['cron', 'trigger', 'nightly'])).stdout).toBe(
    'Run job-0b1c2d3e4f5g6h7i8j9k of nightly has begun. Its lines: cpctl logs nightly --instance job-0b1c2d3e4f5g6h7i8j9k\n',
  )
  expect(await run(['cron', 'trigger', 'nightly', '--follow'])).toMatchObject({ exitCode: 4, stdout: '' })
})

test('trigger says why it is refused', async () => {
  const run = serving({
    runCronJob: () => {
      throw new AppError('conflict', 'Run job-1 is under way, and the overlap policy is skip. Wait for it, or cancel it first.')
    },
  })
  expect(await run(['cron', 'trigger', 'nightly'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cancel it first') })
})

test('cancel cancels what is under way', async () => {
  const run = serving({ cancelCronJobRuns: () => undefined })
  expect((await run(['cron', 'cancel', cronId])).stdout).toBe('Runs of nightly that were under way are being canceled.\n')
})

test('set changes what is given and nothing else', async () => {
  const run = serving({ updateService: () => cron() })
  expect((await run(['cron', 'set', 'nightly', '0 3 * * *', '--timezone', 'Europe/Berlin'])).stdout).toBe(
    'nightly runs at 0 3 * * * in Europe/Berlin; overlaps: skip.\n',
  )
  expect(server.received.at(-1)?.body).toEqual({ serviceDetails: { schedule: '0 3 * * *', timezone: 'Europe/Berlin' } })
  await run(['cron', 'set', 'nightly', '--overlap', 'replace'])
  expect(server.received.at(-1)?.body).toEqual({ serviceDetails: { overlapPolicy: 'replace' } })
  expect(await run(['cron', 'set', 'nightly'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Nothing to change') })
})

test('a cron job is created with its schedule, and a change of it needs no deploy', async () => {
  const run = serving({ createService: () => ({ service: cron() }), updateService: () => cron() })
  await run([
    'services',
    'create',
    'nightly',
    '--type',
    'cron_job',
    '--schedule',
    '0 3 * * *',
    '--timezone',
    'Europe/Berlin',
    '--overlap',
    'skip',
  ])
  expect(server.received.at(-1)?.body).toEqual({
    type: 'cron_job',
    name: 'nightly',
    serviceDetails: { schedule: '0 3 * * *', timezone: 'Europe/Berlin', overlapPolicy: 'skip' },
  })
  expect((await run(['services', 'update', 'nightly', '--schedule', '@daily'])).stdout).toBe('Updated nightly.\n')
  expect((await run(['services', 'get', 'nightly'])).stdout).toMatch(/Schedule:\s+0 3 \* \* \*\nTime zone:\s+Europe\/Berlin/)
})
