import { expect } from 'vitest'
import type { EventType } from '../../../../shared/event.ts'
import type { FakeWorld } from '../../../support/fake-world.ts'

interface Told {
  seq: number
  type: EventType
  about: string
}

/** Types of events by what they are about: of each there is at most one beginning, and one end after it. */
const spans: { begins: EventType; ends: EventType; endsAlways?: true }[] = [
  { begins: 'build_started', ends: 'build_ended' },
  { begins: 'pre_deploy_started', ends: 'pre_deploy_ended' },
  { begins: 'deploy_started', ends: 'deploy_ended', endsAlways: true },
  { begins: 'job_run_started', ends: 'job_run_ended', endsAlways: true },
  { begins: 'cron_job_run_started', ends: 'cron_job_run_ended', endsAlways: true },
]

/** Every event of services that are gone now was told once, and ends were told after beginnings, however often the control plane was killed. */
export function expectToldOnce(world: FakeWorld, serviceIds: readonly string[], told: string): void {
  const events = serviceIds.flatMap((id) => eventsOf(world, id))
  for (const { begins, ends, endsAlways } of spans) {
    const of = (type: EventType) => new Map(events.filter((event) => event.type === type).map((event) => [event.about, event.seq]))
    const [begun, ended] = [of(begins), of(ends)]
    const count = (type: EventType) => events.filter((event) => event.type === type).length
    expect([count(begins), count(ends)], `${told}: ${begins}, ${ends}`).toEqual([begun.size, ended.size])
    const endless = [...begun].filter(([about, seq]) => (ended.get(about) ?? 0) < seq)
    expect(endless, `${told}: ${begins} without ${ends}`).toEqual([])
    const beginless = [...ended.keys()].filter((about) => !begun.has(about))
    if (!endsAlways) expect(beginless, `${told}: ${ends} without ${begins}`).toEqual([])
  }
  const deleted = events.filter(({ type }) => type === 'service_deleted').map(({ about }) => about)
  expect(deleted.sort(), told).toEqual([...serviceIds].sort())
}

/** A deploy that was live and is taken back has ended a second time. */
const secondEnd = `type = 'deploy_ended' AND details ->> 'status' = 'update_failed' AND EXISTS (
  SELECT 1 FROM events AS taken WHERE taken.service_id = events.service_id AND taken.type = 'cutover_reverted'
    AND taken.details ->> 'deployId' = events.details ->> 'deployId')
  AND EXISTS (SELECT 1 FROM events AS first WHERE first.service_id = events.service_id AND first.type = 'deploy_ended'
    AND first.seq < events.seq AND first.details ->> 'deployId' = events.details ->> 'deployId')`

const eventsOf = ({ context: { db } }: FakeWorld, serviceId: string): Told[] =>
  db
    .query<Told, [string]>(
      `SELECT seq, type, coalesce(details ->> 'deployId', details ->> 'jobId', details ->> 'cronJobRunId', service_id) AS about
       FROM events WHERE service_id = ? AND NOT (${secondEnd}) ORDER BY seq`,
    )
    .all(serviceId)
