import type { MetricsDatabase } from './database.ts'
import type { DatastoreReading, DatastoreSample } from './datastore-samples.ts'
import { datastoreKind, type Kind, trafficKind, usageKind } from './kinds.ts'
import type { Level } from './levels.ts'
import { pauseUnless } from './pause.ts'
import { readSamples } from './read.ts'
import { removeSamples } from './retention.ts'
import type { TrafficSample, UsageSample } from './samples.ts'
import { seriesOf } from './series-ids.ts'
import type { Snapshot, Totals } from './snapshot.ts'
import { writeDatastore } from './write.ts'

export interface SamplesQuery {
  services: readonly string[]
  level: Level
  /** Beginnings of windows, in seconds since 1970: from `start` up to, not including, `end`. */
  start: number
  end: number
}

export interface SampleSeries<S> {
  service: string
  instance: string
  samples: S[]
}

export interface Metrics {
  latest(): Snapshot | undefined
  totals(): Totals
  lagMs(): number
  /** @throws AppError `unavailable` while they cannot be read, as all that read. */
  usageOfInstances(query: SamplesQuery): SampleSeries<UsageSample>[]
  usageOfServices(query: SamplesQuery): SampleSeries<UsageSample>[]
  trafficOf(query: SamplesQuery): SampleSeries<TrafficSample>[]
  datastoresOf(query: SamplesQuery): SampleSeries<DatastoreSample>[]
  /** What servers of datastores told last, by the id of the datastore; nothing of those that do not run. */
  readonly datastores: Map<string, DatastoreReading>
  /** Stores what the server of a datastore told just now. @throws AppError `unavailable` while it cannot be stored. */
  noteDatastore(datastore: string, sample: DatastoreSample): void
  /** Never rejects: what cannot be removed now goes later. */
  removeService(service: string): Promise<void>
}

export function createMetrics(
  database: MetricsDatabase,
  { latest, totals, lagMs }: Pick<Metrics, 'latest' | 'totals' | 'lagMs'>,
  stopping: AbortSignal,
): Metrics {
  const read = <S>(kind: Kind<S>, which: 'services' | 'instances', { services, ...range }: SamplesQuery): SampleSeries<S>[] =>
    database.use((opened) => {
      const series = seriesOf(opened, services, which)
      const found = readSamples(opened, kind, { ...range, seriesIds: series.map(({ id }) => id) })
      return series.flatMap(({ id, service, instance }) => {
        const samples = found.get(id)
        return samples === undefined ? [] : [{ service, instance, samples }]
      })
    })
  return {
    latest,
    totals,
    lagMs,
    datastores: new Map(),
    usageOfInstances: (query) => read(usageKind, 'instances', query),
    usageOfServices: (query) => read(usageKind, 'services', query),
    trafficOf: (query) => read(trafficKind, 'services', query),
    datastoresOf: (query) => read(datastoreKind, 'services', query),
    noteDatastore: (datastore, sample) => database.use((opened) => writeDatastore(opened, datastore, sample)),
    async removeService(service) {
      await removeSamples(database, service, pauseUnless(stopping)).catch(() => {})
    },
  }
}
