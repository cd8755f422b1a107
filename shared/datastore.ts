import { Type } from '@sinclair/typebox'
import { commonFilters, placeFilters } from './project.ts'
import { Many, OneOf, Time } from './schema.ts'
import { IpAllowList } from './service-controls.ts'
import { Owner } from './workspace.ts'

const datastoreStatuses = [
  'creating',
  'available',
  'unavailable',
  'config_restart',
  'suspended',
  'recovery_in_progress',
  'recovery_failed',
  'updating_instance',
  'unknown',
] as const
export type DatastoreStatus = (typeof datastoreStatuses)[number]

const suspensions = ['suspended', 'not_suspended'] as const

const suspenders = ['admin', 'billing', 'user'] as const
export type Suspender = (typeof suspenders)[number]

export const diskStates = ['ok', 'nearly_full', 'full'] as const
export type DiskState = (typeof diskStates)[number]

/** What databases and key-value stores have in common, as callers see them. */
export const commonDatastore = {
  name: Type.String(),
  owner: Owner,
  plan: Type.String(),
  region: Type.String(),
  status: OneOf(datastoreStatuses),
  version: Type.String({ description: 'Major version of the program' }),
  ipAllowList: IpAllowList,
  environmentId: Type.Optional(Type.String()),
  diskState: OneOf(diskStates, 'full: it takes no writes until there is room again'),
  backupProblem: Type.Optional(Type.String({ description: 'Why its backups are behind; absent while they are as they should be' })),
  suspended: OneOf(suspensions),
  suspenders: Type.Array(OneOf(suspenders)),
  createdAt: Time,
  updatedAt: Time,
  dashboardUrl: Type.String(),
}

/** Filters that lists of both kinds take. */
export const datastoreFilters = {
  ...commonFilters,
  ...placeFilters,
  region: Many(Type.String({ maxLength: 64 })),
  suspended: Many(OneOf(suspensions)),
}

export const ForceDeletion = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Delete it although variables refer to it', default: false })),
})
