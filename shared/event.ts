import { type Static, Type } from '@sinclair/typebox'
import { Id, ResourceId } from './id.ts'
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
  'commit_ignored',
  'branch_deleted',
] as const

/** What happens to databases and key-value stores, by the names that Render has for it where it has one. */
export const datastoreEventTypes = [
  'postgres_created',
  'postgres_available',
  'postgres_unavailable',
  'postgres_restarted',
  'postgres_suspended',
  'postgres_resumed',
  'postgres_deleted',
  'postgres_plan_changed',
  'postgres_parameters_changed',
  'postgres_parameters_reverted',
  'postgres_credentials_changed',
  'postgres_disk_size_changed',
  'postgres_disk_resize_failed',
  'postgres_disk_autoscaling_enabled_changed',
  'postgres_disk_nearly_full',
  'postgres_disk_full',
  'postgres_disk_writable',
  'postgres_backup_started',
  'postgres_backup_completed',
  'postgres_backup_failed',
  'postgres_backup_verified',
  'postgres_backup_damaged',
  'postgres_wal_archive_failed',
  'postgres_wal_archive_resumed',
  'postgres_backup_copy_failed',
  'postgres_backup_copy_resumed',
  'postgres_restore_succeeded',
  'postgres_restore_failed',
  'postgres_export_completed',
  'postgres_export_failed',
  'postgres_import_completed',
  'postgres_import_failed',
  'postgres_upgrade_started',
  'postgres_upgrade_succeeded',
  'postgres_upgrade_failed',
  'postgres_upgrade_reverted',
  'postgres_connection_pool_changed',
  'postgres_ha_status_changed',
  'postgres_cluster_leader_changed',
  'postgres_failover_failed',
  'postgres_read_replicas_changed',
  'postgres_read_replica_stale',
  'key_value_created',
  'key_value_available',
  'key_value_unhealthy',
  'key_value_config_restart',
  'key_value_restarted',
  'key_value_suspended',
  'key_value_resumed',
  'key_value_deleted',
  'key_value_plan_changed',
  'key_value_credentials_changed',
  'key_value_disk_nearly_full',
  'key_value_disk_full',
  'key_value_disk_writable',
  'key_value_backup_started',
  'key_value_backup_completed',
  'key_value_backup_failed',
  'key_value_backup_verified',
  'key_value_backup_damaged',
  'key_value_backup_copy_failed',
  'key_value_backup_copy_resumed',
  'key_value_restore_succeeded',
  'key_value_restore_failed',
] as const
export type DatastoreEventType = (typeof datastoreEventTypes)[number]

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
  'preview_created',
  'preview_deleted',
  'preview_awaits_approval',
  'preview_approved',
  'shell_opened',
  'shell_closed',
  'webhook_disabled',
  'commit_waiting',
  'repository_unreachable',
  'repository_reachable',
  'repository_renamed',
] as const

export const eventTypes = [...wellKnownEventTypes, ...ownEventTypes, ...datastoreEventTypes] as const
export type EventType = (typeof eventTypes)[number]

/** Whether this happens to databases and key-value stores. */
export const isOfDatastore = (type: EventType): type is DatastoreEventType => ofDatastores.has(type)

const ofDatastores: ReadonlySet<string> = new Set(datastoreEventTypes)

/** A type of event in a filter: the error for one that there is not says which is meant. */
export const EventTypeInput = ToldOneOf(eventTypes)

export const Event = Type.Object(
  {
    id: Id('event'),
    timestamp: Time,
    serviceId: Type.Optional(ResourceId),
    serviceName: Type.Optional(Type.String({ description: 'Name of the service, database or key-value store as it was then' })),
    environmentId: Type.Optional(Type.String({ description: 'The environment that it was in then' })),
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
      maxItems: eventTypes.length,
      description: "Without it, those that clients of Render's API know; others are found by their names",
    }),
  ),
})
export type EventQuery = Static<typeof EventQuery>

export const DatastoreEventQuery = Type.Object({ ...EventFilter, type: Many(EventTypeInput) })
export type DatastoreEventQuery = Static<typeof DatastoreEventQuery>

export const WorkspaceEventQuery = Type.Object({
  ownerId: Type.Optional(Type.String({ description: 'Id of the workspace; default: that of the caller' })),
  ...EventFilter,
  type: Many(EventTypeInput),
  serviceId: Many(Type.String({ description: 'Id of a service, database or key-value store, also of one that was deleted' })),
  projectId: Many(Type.String({ description: 'Id of a project: what happened in its environments' })),
  environmentId: Many(Type.String({ description: 'Id of an environment: what happened while its services were in it' })),
})
export type WorkspaceEventQuery = Static<typeof WorkspaceEventQuery>
