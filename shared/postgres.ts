import { type Static, Type } from '@sinclair/typebox'
import { commonDatastore, datastoreFilters } from './datastore.ts'
import { Id } from './id.ts'
import { OneOf } from './schema.ts'

/**
 * Names are Render's; the figures are ours. `cpu` in cores, `memoryMb` in MiB, `pids` in processes and threads, `connections` as PostgreSQL's
 * max_connections without the platform's own.
 */
const postgresPlans = {
  free: { cpu: 0.1, memoryMb: 256, pids: 256, connections: 50 },
  basic_256mb: { cpu: 0.25, memoryMb: 256, pids: 256, connections: 100 },
  basic_1gb: { cpu: 0.5, memoryMb: 1024, pids: 512, connections: 100 },
  basic_4gb: { cpu: 1, memoryMb: 4096, pids: 512, connections: 100 },
  pro_4gb: { cpu: 1, memoryMb: 4096, pids: 512, connections: 100 },
  pro_8gb: { cpu: 2, memoryMb: 8192, pids: 1024, connections: 200 },
  pro_16gb: { cpu: 4, memoryMb: 16_384, pids: 1024, connections: 400 },
  pro_32gb: { cpu: 8, memoryMb: 32_768, pids: 2048, connections: 400 },
  pro_64gb: { cpu: 16, memoryMb: 65_536, pids: 2048, connections: 500 },
} as const

export const connectionPools = ['none', 'pgbouncer'] as const
export type ConnectionPool = (typeof connectionPools)[number]

export const Postgres = Type.Object(
  {
    id: Id('postgres'),
    ...commonDatastore,
    plan: Type.String({ examples: Object.keys(postgresPlans) }),
    role: OneOf(['primary', 'replica']),
    databaseName: Type.String(),
    databaseUser: Type.String(),
    diskSizeGB: Type.Integer(),
    diskAutoscalingEnabled: Type.Boolean(),
    highAvailabilityEnabled: Type.Boolean(),
    connectionPool: OneOf(connectionPools),
    readReplicas: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    parameterOverrides: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { $id: 'Postgres' },
)
export type Postgres = Static<typeof Postgres>

export const PostgresQuery = Type.Object({ ...datastoreFilters, includeReplicas: Type.Optional(Type.Boolean()) })
