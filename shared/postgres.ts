import { type Static, Type } from '@sinclair/typebox'
import { commonDatastore, datastoreFilters } from './datastore.ts'
import { maxSizeGb, minSizeGb } from './disk.ts'
import { Id } from './id.ts'
import { OneOf, StrictObject, Time, Unsupported } from './schema.ts'
import { ServiceName } from './service.ts'
import { IpAllowListInput } from './service-controls.ts'
import { defaultLabels } from './service-labels.ts'

/**
 * Names are Render's; the figures are ours. `cpu` in cores, `memoryMb` in MiB, `pids` in processes and threads, `connections` as PostgreSQL's
 * max_connections without the platform's own.
 */
export const postgresPlans = {
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

export type PostgresPlan = keyof typeof postgresPlans
const planNames = Object.keys(postgresPlans) as [PostgresPlan, ...PostgresPlan[]]

export const defaultPostgresPlan: PostgresPlan = 'basic_256mb'
export const defaultPostgresVersion = '18'
/** What a database has when nothing is said, in GiB: room is taken in full, and it can grow at any time. */
export const defaultPostgresSizeGb = 1

export const connectionPools = ['none', 'pgbouncer'] as const
export type ConnectionPool = (typeof connectionPools)[number]

const upgradeSteps = [
  'preparing',
  'checking',
  'keeping',
  'linking',
  'starting',
  'settling',
  'done',
  'failed',
  'returning',
  'returned',
] as const

const PostgresUpgrade = Type.Object(
  {
    fromVersion: Type.String(),
    toVersion: Type.String(),
    status: OneOf(['in_progress', 'succeeded', 'failed', 'rolling_back', 'rolled_back']),
    step: OneOf(upgradeSteps, 'What is being done; settling: it can be connected to, and its statistics are made'),
    startedAt: Time,
    finishedAt: Type.Optional(Type.String({ format: 'date-time' })),
    rollbackUntil: Type.Optional(Type.String({ format: 'date-time', description: 'Until when it can be taken back' })),
    rollbackTo: Type.Optional(Type.String({ format: 'date-time', description: 'What was written later is lost by that' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed, or what could not be brought along' })),
  },
  { description: 'Of one that was brought to another major version: how that goes, or went' },
)
export type PostgresUpgrade = Static<typeof PostgresUpgrade>

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
    readReplicas: Type.Array(Type.Object({ id: Id('postgres'), name: Type.String() })),
    primaryPostgresID: Type.Optional(Type.String({ description: 'Of a read replica: whom it follows' })),
    replicationLagSeconds: Type.Optional(
      Type.Number({ description: 'Of a read replica: how far it is behind, as measured in the last minute' }),
    ),
    upgrade: Type.Optional(PostgresUpgrade),
    parameterOverrides: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { $id: 'Postgres' },
)
export type Postgres = Static<typeof Postgres>

/** A name that needs no quotes in SQL. Whether it is free to be taken is the server's to say. */
const SqlName = Type.String({
  pattern: '^(?:[a-z_][a-z0-9_]{0,62})?$',
  description: 'Lower case letters, digits and _; made of the name when empty',
})

const Size = Type.Integer({ minimum: minSizeGb, maximum: maxSizeGb, description: 'In GiB; it can grow, not shrink', examples: [10] })

const Parameters = Type.Record(Type.String({ maxLength: 63 }), Type.String({ maxLength: 255 }), {
  description:
    'Settings of the server that replace those of the plan, such as {"work_mem": "16MB"}; those that can be set are told when one cannot',
  maxProperties: 64,
})

const Pool = Type.Optional(OneOf(connectionPools, 'Whether connections are pooled between the database and those who connect'))

const Version = Type.String({
  maxLength: 8,
  description: `Major version; ${defaultPostgresVersion} when nothing is said`,
  examples: ['18'],
})

/** The most read replicas that a database has. */
export const maxReadReplicas = 5

const ReadReplicaInput = StrictObject({
  name: ServiceName,
  parameterOverrides: Type.Optional(Type.Union([Parameters, Type.Null()])),
})
export type ReadReplicaInput = Static<typeof ReadReplicaInput>

const ReadReplicas = Type.Optional(
  Type.Union([Type.Array(ReadReplicaInput, { maxItems: maxReadReplicas }), Type.Null()], {
    description: 'All read replicas that it is to have, by their names; null is none. One that is left out of the list is deleted.',
  }),
)

const changeable = {
  plan: Type.Optional(OneOf(planNames)),
  diskSizeGB: Type.Optional(Size),
  enableDiskAutoscaling: Type.Optional(Type.Boolean({ description: 'Whether its disk grows by itself when it is nearly full' })),
  enableHighAvailability: Type.Optional(
    Type.Boolean({
      description:
        'Whether a standby on the same machine takes its place when its server or its files are broken. It is no help when the machine is lost.',
    }),
  ),
  connectionPool: Pool,
  ipAllowList: Type.Optional(
    Type.Array(IpAllowListInput.items, {
      maxItems: 200,
      description:
        'Addresses from outside that may connect. 0.0.0.0/0 is everywhere, IPv6 included; an empty list lets nobody in from outside.',
    }),
  ),
  parameterOverrides: Type.Optional(Type.Union([Parameters, Type.Null()])),
  datadogAPIKey: Unsupported(),
  datadogSite: Unsupported(),
}

export const PostgresCreate = StrictObject(
  {
    name: ServiceName,
    ownerId: Type.Optional(Type.String({ maxLength: 64 })),
    environmentId: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    region: Unsupported(defaultLabels.region),
    version: Type.Optional(Version),
    databaseName: Type.Optional(SqlName),
    databaseUser: Type.Optional(SqlName),
    ...changeable,
    readReplicas: ReadReplicas,
  },
  { examples: [{ name: 'shop', plan: 'basic_256mb' }] },
)
export type PostgresCreate = Static<typeof PostgresCreate>

export const PostgresPatch = StrictObject(
  {
    name: Type.Optional(ServiceName),
    version: Type.Optional(
      Type.String({
        maxLength: 8,
        description:
          'A newer major version, which it is brought to: nobody can connect meanwhile. `upgrade` tells how far it is, and for a day it can be taken back.',
        examples: ['18'],
      }),
    ),
    ...changeable,
    readReplicas: ReadReplicas,
  },
  { examples: [{ diskSizeGB: 5 }] },
)
export type PostgresPatch = Static<typeof PostgresPatch>

export const PostgresConnectionInfo = Type.Object(
  {
    password: Type.String({ 'x-secret': true }),
    internalConnectionString: Type.String({ 'x-secret': true, description: 'For services of the same private network' }),
    externalConnectionString: Type.String({ 'x-secret': true, description: 'From outside, by TLS' }),
    internalConnectionPoolString: Type.Optional(
      Type.String({ 'x-secret': true, description: 'Through the pooler, where the database has one' }),
    ),
    externalConnectionPoolString: Type.Optional(Type.String({ 'x-secret': true, description: 'Through the pooler, from outside' })),
    psqlCommand: Type.String({ 'x-secret': true, description: 'Connects from outside in a shell' }),
  },
  { $id: 'PostgresConnectionInfo' },
)
export type PostgresConnectionInfo = Static<typeof PostgresConnectionInfo>

export const PostgresQuery = Type.Object({
  ...datastoreFilters,
  includeReplicas: Type.Optional(Type.Boolean({ description: 'Whether read replicas are listed, too', default: true })),
})
