import { lagSecondsNow } from '../../apps/datastores/lag-store.ts'
import { statusOf } from '../../apps/datastores/status.ts'
import { OWNER_KIND, type StoredDatastore } from '../../apps/datastores/store.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { DatastoreFigures } from '../../telemetry/metrics/datastore-samples.ts'
import type { InsightContext } from '../context.ts'
import type { Family, Sample } from './exposition.ts'

interface Shown {
  datastore: StoredDatastore
  labels: Readonly<Record<string, string>>
  figures: DatastoreFigures | undefined
}

interface FigureFamily extends Omit<Family, 'samples'> {
  figure: keyof DatastoreFigures
  isOfStores?: true
}

/** Counts are the servers' own, so they begin anew with each start of one. */
const told: readonly FigureFamily[] = [
  { name: 'cpd_datastore_connections', help: 'Connections of clients.', type: 'gauge', figure: 'connections' },
  {
    name: 'cpd_datastore_operations',
    help: 'Transactions of databases, commands of key-value stores.',
    type: 'counter',
    figure: 'operations',
  },
  { name: 'cpd_datastore_cache_hits', help: 'Pages or keys that were found in memory.', type: 'counter', figure: 'hits' },
  { name: 'cpd_datastore_cache_misses', help: 'Pages or keys that were not found in memory.', type: 'counter', figure: 'misses' },
  { name: 'cpd_key_value_memory_bytes', help: 'Memory that keys and values take.', type: 'gauge', figure: 'memory', isOfStores: true },
  { name: 'cpd_key_value_keys', help: 'Keys that there are.', type: 'gauge', figure: 'keys', isOfStores: true },
  { name: 'cpd_key_value_evicted_keys', help: 'Keys removed for want of memory.', type: 'counter', figure: 'evictions', isOfStores: true },
]

/** What servers of datastores tell of themselves, and how they are. */
export function datastoreFamilies({ db, metrics, now }: InsightContext, datastores: readonly StoredDatastore[]): Family[] {
  const shown = datastores.map((datastore) => ({
    datastore,
    labels: { service: datastore.id, service_name: datastore.name },
    figures: metrics.datastores.get(datastore.id)?.figures,
  }))
  return [
    {
      name: 'cpd_datastore_up',
      help: 'Whether a database or key-value store can be connected to; none for what is suspended.',
      type: 'gauge',
      samples: shown
        .filter(({ datastore }) => datastore.suspendedBy === null)
        .map(({ datastore, labels }) => ({ labels, value: isUp(datastore, db) ? 1 : 0 })),
    },
    ...told.map(({ figure, isOfStores, ...family }) => ({ ...family, samples: samplesOf(shown, { figure, isOfStores }) })),
    {
      name: 'cpd_datastore_replication_lag_seconds',
      help: 'How far a read replica is behind its primary.',
      type: 'gauge',
      samples: shown.flatMap(({ datastore, labels }) => {
        const value = datastore.role === 'replica' ? lagSecondsNow(db, datastore.id, now()) : undefined
        return value === undefined ? [] : [{ labels, value }]
      }),
    },
  ]
}

const isUp = (datastore: StoredDatastore, db: InsightContext['db']): boolean =>
  statusOf(datastore, workloadsOf(db, OWNER_KIND, datastore.id)) === 'available'

const samplesOf = (
  shown: readonly Shown[],
  { figure, isOfStores }: { figure: keyof DatastoreFigures; isOfStores: true | undefined },
): Sample[] =>
  shown.flatMap(({ datastore, labels, figures }) =>
    figures === undefined || (isOfStores && datastore.kind !== 'key_value') ? [] : [{ labels, value: figures[figure] }],
  )
