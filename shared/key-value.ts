import { type Static, Type } from '@sinclair/typebox'
import { commonDatastore, datastoreFilters } from './datastore.ts'
import { Id } from './id.ts'
import { OneOf } from './schema.ts'

/** Names are Render's; the figures are ours. `cpu` in cores, `memoryMb` in MiB of all that runs, of which keys get three quarters. */
const keyValuePlans = {
  free: { cpu: 0.1, memoryMb: 64, pids: 64, connections: 50 },
  starter: { cpu: 0.25, memoryMb: 256, pids: 64, connections: 250 },
  standard: { cpu: 0.5, memoryMb: 1024, pids: 64, connections: 1000 },
  pro: { cpu: 1, memoryMb: 5120, pids: 64, connections: 5000 },
  pro_plus: { cpu: 2, memoryMb: 10_240, pids: 64, connections: 10_000 },
} as const

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

export const KeyValueQuery = Type.Object(datastoreFilters)
