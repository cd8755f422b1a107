import { Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { commonFilters } from './project.ts'
import { Many, OneOf, Time } from './schema.ts'
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
const suspensions = ['suspended', 'not_suspended'] as const

const common = {
  name: Type.String(),
  owner: Owner,
  plan: Type.String(),
  region: Type.String(),
  status: OneOf(datastoreStatuses),
  version: Type.String(),
  createdAt: Time,
  updatedAt: Time,
}

export const Postgres = Type.Object(
  {
    id: Type.String({ pattern: '^dpg-[0-9a-v]{20}-a$', examples: ['dpg-0b1c2d3e4f5g6h7i8j9k-a'] }),
    ...common,
    databaseName: Type.String(),
    databaseUser: Type.String(),
  },
  { $id: 'Postgres' },
)

export const KeyValue = Type.Object(
  {
    id: Id('keyValue'),
    ...common,
    options: Type.Object({ maxmemoryPolicy: Type.String(), persistenceMode: Type.String() }),
  },
  { $id: 'KeyValue' },
)

const environmentId = Many(Type.String({ maxLength: 64, description: 'There is no environment yet, so none is found' }))
const region = Many(Type.String({ maxLength: 64 }))

export const PostgresQuery = Type.Object({
  ...commonFilters,
  environmentId,
  region,
  suspended: Many(OneOf(suspensions)),
  includeReplicas: Type.Optional(Type.Boolean()),
})
export const KeyValueQuery = Type.Object({ ...commonFilters, environmentId, region })
