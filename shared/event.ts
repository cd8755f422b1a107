import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, Time, TimeInput } from './schema.ts'

/** Clients of Render's API know these. A strict one refuses a whole page for one that it does not. */
export const wellKnownEventTypes = [
  'build_started',
  'build_ended',
  'pre_deploy_started',
  'pre_deploy_ended',
  'deploy_started',
  'deploy_ended',
  'server_available',
  'server_failed',
  'server_restarted',
  'job_run_ended',
  'cron_job_run_started',
  'cron_job_run_ended',
  'service_suspended',
  'service_resumed',
  'disk_created',
  'disk_deleted',
  'instance_count_changed',
  'plan_changed',
] as const

const ownEventTypes = [
  'cutover_guarded',
  'cutover_passed',
  'cutover_reverted',
  'cutover_unguarded',
  'job_run_started',
  'cron_job_run_skipped',
  'service_slept',
  'service_woke',
  'disk_create_failed',
  'disk_attached',
  'disk_resized',
  'disk_resize_failed',
  'disk_restored',
  'disk_restore_failed',
  'disk_snapshot_created',
  'disk_snapshot_failed',
  'custom_domain_added',
  'custom_domain_verified',
  'custom_domain_removed',
  'certificate_issued',
  'certificate_renewed',
  'certificate_failed',
  'certificate_expiring',
  'certificate_uploaded',
  'certificate_removed',
  'shell_opened',
  'shell_closed',
] as const

export const eventTypes = [...wellKnownEventTypes, ...ownEventTypes] as const
export type EventType = (typeof eventTypes)[number]

export const Event = Type.Object(
  {
    id: Id('event'),
    timestamp: Time,
    serviceId: Id('service'),
    type: OneOf(eventTypes),
    details: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'Event' },
)
export type Event = Static<typeof Event>

export const EventQuery = Type.Object({
  ...PageQuery,
  type: Many(OneOf(eventTypes, "Without it, those that clients of Render's API know; others are found by their names")),
  startTime: Type.Optional(TimeInput),
  endTime: Type.Optional(TimeInput),
})
export type EventQuery = Static<typeof EventQuery>
