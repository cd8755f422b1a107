import { type Static, Type } from '@sinclair/typebox'
import { commonDatastore, datastoreFilters } from './datastore.ts'
import { TouchedService } from './env-group.ts'
import { Id } from './id.ts'
import { OneOf, StrictObject, Time, Unsupported } from './schema.ts'
import { ServiceName } from './service.ts'
import { IpAllowListInput } from './service-controls.ts'
import { defaultLabels } from './service-labels.ts'

/** Names are Render's; the figures are ours. `cpu` in cores, `memoryMb` in MiB of all that runs, of which keys get three quarters. */
export const keyValuePlans = {
  free: { cpu: 0.1, memoryMb: 64, pids: 64, connections: 50 },
  starter: { cpu: 0.25, memoryMb: 256, pids: 64, connections: 250 },
  standard: { cpu: 0.5, memoryMb: 1024, pids: 64, connections: 1000 },
  pro: { cpu: 1, memoryMb: 5120, pids: 64, connections: 5000 },
  pro_plus: { cpu: 2, memoryMb: 10_240, pids: 64, connections: 10_000 },
} as const

export type KeyValuePlan = keyof typeof keyValuePlans
export const keyValuePlanNames = Object.keys(keyValuePlans) as KeyValuePlan[]
export const defaultKeyValuePlan: KeyValuePlan = 'starter'

/** How long both passwords are good after a rotation, in hours: when nobody says, and at most. */
export const formerPasswordHours = { default: 24, most: 168 } as const

/** Commands that are told of, at most. */
export const mostCommands = 20

export const maxmemoryPolicies = [
  'noeviction',
  'allkeys_lfu',
  'allkeys_lru',
  'allkeys_random',
  'volatile_lfu',
  'volatile_lru',
  'volatile_random',
  'volatile_ttl',
] as const
export type MaxmemoryPolicy = (typeof maxmemoryPolicies)[number]

export const persistenceModes = ['journal_snapshot', 'snapshot', 'off'] as const
export type PersistenceMode = (typeof persistenceModes)[number]

/** What stands in the settings of the program, people write here as well: with hyphens in place of underscores. */
type Hyphened<T extends string> = T extends `${infer Head}_${infer Tail}` ? `${Head}-${Tail}` : never

const inBothSpellings = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T | Hyphened<T>>({
    type: 'string',
    enum: [...new Set(values.flatMap((value) => [value, value.replace('_', '-')]))],
    description,
  })

type Told<T extends string> = T extends `${infer Head}-${infer Tail}` ? `${Head}_${Tail}` : T

/** The spelling in which values are kept and told. */
export const asTold = <T extends string>(value: T): Told<T> => value.replace('-', '_') as Told<T>

export const KeyValue = Type.Object(
  {
    id: Id('keyValue'),
    ...commonDatastore,
    plan: Type.String({ examples: Object.keys(keyValuePlans) }),
    options: Type.Object({ maxmemoryPolicy: OneOf(maxmemoryPolicies), persistenceMode: OneOf(persistenceModes) }),
  },
  { $id: 'KeyValue' },
)
export type KeyValue = Static<typeof KeyValue>

const settings = {
  plan: Type.Optional(OneOf(keyValuePlanNames, 'Three quarters of its memory are for keys and values')),
  maxmemoryPolicy: Type.Optional(
    inBothSpellings(maxmemoryPolicies, 'What is removed when the memory is full; noeviction refuses writes then. In force at once.'),
  ),
  persistenceMode: Type.Optional(
    inBothSpellings(
      persistenceModes,
      'journal_snapshot loses a second or two of writes at most when it is killed, snapshot some minutes, off all',
    ),
  ),
  ipAllowList: Type.Optional(IpAllowListInput),
}

export const KeyValueCreate = StrictObject(
  {
    name: ServiceName,
    ownerId: Type.Optional(Type.String({ maxLength: 64 })),
    region: Unsupported(defaultLabels.region),
    environmentId: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    ...settings,
  },
  { examples: [{ name: 'cache', plan: 'starter', maxmemoryPolicy: 'allkeys_lru' }] },
)
export type KeyValueCreate = Static<typeof KeyValueCreate>

export const KeyValuePatch = StrictObject(
  { name: Type.Optional(ServiceName), ...settings },
  { examples: [{ maxmemoryPolicy: 'noeviction' }] },
)
export type KeyValuePatch = Static<typeof KeyValuePatch>

const strings = {
  internalConnectionString: Type.String({
    description: 'For services of the same private network',
    examples: ['redis://red-0b1c2d3e4f5g6h7i8j9k:secret@red-0b1c2d3e4f5g6h7i8j9k:6379'],
  }),
  externalConnectionString: Type.String({
    description: 'For addresses of the allow list, with TLS; empty while this server has no way in from outside',
  }),
}
const command = Type.String({ description: 'Opens a prompt on it from outside; empty where there is no way in' })

export const KeyValueConnectionInfo = Type.Object({ ...strings, cliCommand: command }, { $id: 'KeyValueConnectionInfo' })
export type KeyValueConnectionInfo = Static<typeof KeyValueConnectionInfo>

export const RedisConnectionInfo = Type.Object({ ...strings, redisCLICommand: command }, { $id: 'RedisConnectionInfo' })

export const KeyValueCredential = Type.Object(
  {
    username: Type.String(),
    default: Type.Boolean({ description: 'Whether connection strings have this password' }),
    createdAt: Time,
    expiresAt: Type.Optional({ ...Time, description: 'When a password that was replaced is refused' }),
  },
  { $id: 'KeyValueCredential' },
)
export type KeyValueCredential = Static<typeof KeyValueCredential>

export const KeyValueRotation = StrictObject(
  {
    formerValidHours: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: formerPasswordHours.most,
        default: formerPasswordHours.default,
        description: 'How long the password until now is good as well; 0 ends it, and the connections made with it, at once',
      }),
    ),
  },
  { examples: [{ formerValidHours: 24 }] },
)

export const KeyValueRotated = Type.Object(
  {
    credentials: Type.Array(KeyValueCredential, { description: 'Those that are good now' }),
    touched: Type.Array(TouchedService, {
      description: 'Services whose variables refer to the store: they connect with the former password until their next deploy',
    }),
  },
  { $id: 'KeyValueRotated' },
)
export type KeyValueRotated = Static<typeof KeyValueRotated>

export const KeyValueStats = Type.Object(
  {
    version: Type.String({ description: 'What its program tells, such as 9.1.2' }),
    connections: Type.Integer(),
    connectionLimit: Type.Integer(),
    usedMemoryBytes: Type.Integer({ description: 'What keys and values take, with what they cost' }),
    maxMemoryBytes: Type.Integer({ description: 'From here on the policy says what is removed, or writes are refused' }),
    keys: Type.Integer(),
    hits: Type.Integer({ description: 'Since its server started, as all that is counted' }),
    misses: Type.Integer(),
    hitRatio: Type.Union([Type.Number(), Type.Null()], { description: 'null where nothing was looked up' }),
    evictions: Type.Integer({ description: 'Keys that were removed for want of memory' }),
    expirations: Type.Integer(),
    commands: Type.Array(Type.Object({ command: Type.String(), calls: Type.Integer(), totalMs: Type.Number(), failed: Type.Integer() }), {
      description: `Those that took most time, up to ${mostCommands}`,
    }),
  },
  { $id: 'KeyValueStats' },
)
export type KeyValueStats = Static<typeof KeyValueStats>

export const KeyValueQuery = Type.Object(datastoreFilters)
