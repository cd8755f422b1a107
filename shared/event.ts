import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, Time, TimeInput, ToldOneOf } from './schema.ts'

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
  'maintenance_mode_enabled',
  'maintenance_mode_uri_updated',
  'disk_created',
  'disk_updated',
  'disk_deleted',
  'instance_count_changed',
  'plan_changed',
] as const

const ownEventTypes = [
  'service_created',
  'service_deleted',
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
  'webhook_disabled',
] as const

export const eventTypes = [...wellKnownEventTypes, ...ownEventTypes] as const
export type EventType = (typeof eventTypes)[number]

/** A type of event in a filter: the error for one that there is not says which is meant. */
export const EventTypeInput = ToldOneOf(eventTypes)

export const Event = Type.Object(
  {
    id: Id('event'),
    timestamp: Time,
    serviceId: Type.Optional(Id('service')),
    serviceName: Type.Optional(Type.String({ description: 'Name of the service as it was then' })),
    environmentId: Type.Optional(Type.String({ description: 'The environment that the service was in then' })),
    type: OneOf(eventTypes),
    details: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'Event' },
)
export type Event = Static<typeof Event>

export const eventDirections = ['backward', 'forward'] as const

const EventFilter = {
  ...PageQuery,
  startTime: Type.Optional(TimeInput),
  endTime: Type.Optional(TimeInput),
  direction: Type.Optional(OneOf(eventDirections, 'backward: newest first, which is usual · forward: oldest first, to follow them')),
}

export const EventQuery = Type.Object({
  ...EventFilter,
  type: Type.Optional(
    Type.Array(EventTypeInput, {
      maxItems: 100,
      description: "Without it, those that clients of Render's API know; others are found by their names",
    }),
  ),
})
export type EventQuery = Static<typeof EventQuery>

export const WorkspaceEventQuery = Type.Object({
  ownerId: Type.Optional(Type.String({ description: 'Id of the workspace; default: that of the caller' })),
  ...EventFilter,
  type: Many(EventTypeInput),
  serviceId: Many(Type.String({ description: 'Id of a service, also of one that was deleted' })),
  projectId: Many(Type.String({ description: 'Id of a project: what happened in its environments' })),
  environmentId: Many(Type.String({ description: 'Id of an environment: what happened while its services were in it' })),
})
export type WorkspaceEventQuery = Static<typeof WorkspaceEventQuery>
