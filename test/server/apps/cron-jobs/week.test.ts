import { mkdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { insertRelease } from '../../../../server/apps/deploys/release-store.ts'
import { insertDeploy, updateDeploy } from '../../../../server/apps/deploys/store.ts'
import { reconcileJobs } from '../../../../server/apps/jobs/reconcile.ts'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'
import { setLive } from '../../../../server/apps/services/store.ts'
import { listJobs } from '../../../../server/apps/workloads/job-store.ts'
import type { Context } from '../../../../server/boot/serve/context.ts'
import type { Engine, InstanceState } from '../../../../server/engines/port/port.ts'
import { newId } from '../../../../server/platform/id.ts'
import { allSets } from '../../../../server/runtime/workloads/set-store.ts'
import { call } from '../../../support/client.ts'
import { idleEngine } from '../../../support/idle-parts.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const WEEK_MS = 7 * 86_400_000

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

interface Case {
  timezone: string
  schedule: string
  /** First day of the week, from midnight UTC on. */
  from: string
  /** Every time of that week, counted out by hand. */
  expected: string[]
}

const cases: Case[] = [
  {
    // Clocks go from 02:00 to 03:00 on the 29th.
    timezone: 'Europe/Berlin',
    schedule: '30 2 * * *',
    from: '2026-03-26',
    expected: ['03-26T01:30', '03-27T01:30', '03-28T01:30', '03-29T01:00', '03-30T00:30', '03-31T00:30', '04-01T00:30'],
  },
  {
    timezone: 'Europe/Berlin',
    schedule: '0 9 * * MON-FRI',
    from: '2026-03-26',
    expected: ['03-26T08:00', '03-27T08:00', '03-30T07:00', '03-31T07:00', '04-01T07:00'],
  },
  {
    // Clocks go from 03:00 to 02:00 on the 25th.
    timezone: 'Europe/Berlin',
    schedule: '30 2 * * *',
    from: '2026-10-22',
    expected: ['10-22T00:30', '10-23T00:30', '10-24T00:30', '10-25T00:30', '10-26T01:30', '10-27T01:30', '10-28T01:30'],
  },
  {
    // From 02:00 to 03:00 on March 8.
    timezone: 'America/New_York',
    schedule: '30 2 * * *',
    from: '2026-03-05',
    expected: ['03-05T07:30', '03-06T07:30', '03-07T07:30', '03-08T07:00', '03-09T06:30', '03-10T06:30', '03-11T06:30'],
  },
  {
    // From 02:00 to 01:00 on November 1.
    timezone: 'America/New_York',
    schedule: '30 1 * * *',
    from: '2026-10-29',
    expected: ['10-29T05:30', '10-30T05:30', '10-31T05:30', '11-01T05:30', '11-02T06:30', '11-03T06:30', '11-04T06:30'],
  },
  {
    // By half an hour, from 02:00 to 02:30 on October 4.
    timezone: 'Australia/Lord_Howe',
    schedule: '15 2 * * *',
    from: '2026-10-01',
    expected: ['10-01T15:45', '10-02T15:45', '10-03T15:30', '10-04T15:15', '10-05T15:15', '10-06T15:15', '10-07T15:15'],
  },
  {
    // By half an hour, from 02:00 to 01:30 on April 5.
    timezone: 'Australia/Lord_Howe',
    schedule: '45 1 * * *',
    from: '2026-04-02',
    expected: ['04-02T14:45', '04-03T14:45', '04-04T14:45', '04-05T15:15', '04-06T15:15', '04-07T15:15', '04-08T15:15'],
  },
]

/** Each quarter of an hour of a week, in whatever zone: what recurs goes by elapsed time. */
const quarters = (from: string): string[] =>
  Array.from({ length: 7 * 96 }, (_, index) => new Date(Date.parse(`${from}T00:00Z`) + index * 900_000).toISOString().slice(5, 16))

for (const [timezone, from] of [
  ['Europe/Berlin', '2026-03-26'],
  ['Europe/Berlin', '2026-10-22'],
  ['Australia/Lord_Howe', '2026-10-01'],
] as const)
  cases.push({ timezone, schedule: '*/15 * * * *', from, expected: quarters(from) })

/** Everything has ended with success as soon as it has begun. */
function instantEngine(now: () => number): Engine {
  const ended = new Set<string>()
  return {
    ...idleEngine,
    start: async ({ instanceId }) => void ended.add(instanceId),
    inspect: async (id): Promise<InstanceState | undefined> =>
      ended.has(id) ? { status: 'exited', exitCode: 0, signal: null, at: new Date(now()).toISOString() } : undefined,
    remove: async (id) => void ended.delete(id),
  }
}

/** A cron job with a release that is live, as its first deploy leaves it. */
async function liveCronJob(server: TestServer, { schedule, timezone }: Case): Promise<string> {
  const json = { type: 'cron_job', name: 'nightly', serviceDetails: { schedule, timezone } }
  const reply = await call<{ service: { id: string } }>(`${server.url}/v1/services`, { json, token: server.adminToken })
  const serviceId = reply.body.service.id
  const { db, sealer, now } = server.context
  const [deployId, releaseId] = [newId('deploy'), newId('release')]
  const deploy = {
    id: deployId,
    serviceId,
    trigger: 'api',
    sourceId: null,
    releaseId,
    rollbackOf: null,
    isCacheCleared: false,
    createdAt: now(),
  } as const
  insertDeploy(db, deploy)
  updateDeploy(db, deployId, { status: 'live', finishedAt: now() }, now())
  const launch = { runtime: 'shell', startCommand: 'true', env: {}, stack: { kind: 'host', folders: [], searchPath: [] } } as const
  insertRelease(
    { db, sealer },
    {
      id: releaseId,
      serviceId,
      sourceId: '',
      artifact: 'a',
      launch,
      settings: defaultSettings,
      createdAt: now(),
    },
    { envVars: [], secretFiles: [] },
  )
  setLive(db, serviceId, { deployId, generation: 0 })
  return serviceId
}

test.each(cases)('a week of $schedule in $timezone from $from runs at exactly these times', async (one) => {
  const start = Date.parse(`${one.from}T00:00:00Z`)
  // A moment before, so that midnight is in the week.
  let clock = start - 1000
  const now = () => clock
  const server = await startTestServer({ parts: { engine: instantEngine(now), now } })
  try {
    const context: Context = server.context
    mkdirSync(context.paths.services, { recursive: true })
    const serviceId = await liveCronJob(server, one)
    while (clock < start + WEEK_MS) {
      const dueAt = reconcileJobs(context, serviceId)
      while (allSets(server.db).length > 0) await nextTurn()
      if (dueAt === undefined) throw new Error('The schedule has come to its end')
      expect(dueAt - clock).toBeLessThanOrEqual(60_000)
      clock = Math.max(dueAt, clock + 1)
    }
    const runs = listJobs(server.db, serviceId, { kind: 'cron', phases: undefined, beforeId: undefined, limit: 2000 }).reverse()
    const within = runs.filter(({ dueAt }) => (dueAt ?? 0) < start + WEEK_MS)
    expect(within.map(({ dueAt }) => new Date(dueAt ?? 0).toISOString().slice(5, 16))).toEqual(one.expected)
    expect(new Set(within.map(({ phase }) => phase))).toEqual(new Set(['succeeded']))
    // On time: none has begun later than its second.
    expect(within.filter(({ dueAt, startedAt }) => (startedAt ?? 0) - (dueAt ?? 0) > 1000)).toEqual([])
  } finally {
    await server.close()
  }
})
