import type { Workload } from '../../engines/port/workload.ts'
import type { DatastoreFigures } from '../../telemetry/metrics/datastore-samples.ts'
import type { Threshold } from './disk-rules.ts'
import type { DatastoreKind, StoredDatastore } from './store.ts'

/** With this a server says that it cannot come up for want of room on its disk. */
export const DISK_FULL_EXIT = 76

/** What a server of a datastore is made of. Its owner, volume, network and name come from the row that all kinds have. */
export type ServerSpec = Pick<Workload, 'files' | 'command' | 'env' | 'secretFiles' | 'limits' | 'material'>

export interface ServerEndpoint {
  host: string
  port: number
}

export interface ServerFailure {
  why: string
  /** Not the first in a row of a server that has not come up since it was changed. */
  isLasting: boolean
}

export interface DatastoreServer {
  readonly port: number
  readonly graceMs: number
  /** Asked before each start that is not the keeper's: whether one may be now. Repeatable. Absent: always. */
  mayRun?(datastore: StoredDatastore): Promise<boolean>
  /** Part of each look at one, before it is decided what is to be done about it. */
  onLook?(datastoreId: string): void
  specOf(datastore: StoredDatastore): Promise<ServerSpec>
  /** Fills a new volume with what takes its time, before the server starts for the first time. Repeatable. */
  prepare?(datastore: StoredDatastore): Promise<void>
  /** Resolves when it answers and has everything that is wanted of it. Repeatable. @throws the signal's reason when aborted. */
  untilReady(datastore: StoredDatastore, endpoint: ServerEndpoint, signal: AbortSignal): Promise<void>
  /**
   * Has a server that runs be as is wanted of it without a restart: beside the reconciler, at each poke and every minute. Repeatable.
   * Returns when to come back though nothing happens (ms since 1970), or undefined.
   */
  tend?(datastore: StoredDatastore, endpoint: ServerEndpoint): Promise<number | undefined>
  /** Part of the transaction that takes note that its server, of this generation, is ready. */
  onReady?(datastore: StoredDatastore): void
  /** Part of the transaction that takes note of an end that nobody asked for. Returns why, in words for people. */
  onFailed?(datastore: StoredDatastore, failure: ServerFailure): string
  /** Whether one that follows has all that its primary has written, which has ended. @throws whatever refuses. */
  hasAllOfPrimary?(follower: StoredDatastore, endpoint: ServerEndpoint): Promise<boolean>
  readonly fullDisk: Threshold
  /** In steps of how many GiB its disk grows by itself; undefined where it does not. */
  growthStepGb?(datastore: StoredDatastore): number | undefined
  /**
   * Has a server that runs take writes or none, as the state of its disk says: whenever that has changed, and every second while it is full.
   * Repeatable. `isShort` says that next to nothing is left.
   */
  fitToDisk?(datastore: StoredDatastore, endpoint: ServerEndpoint, disk: { isChanged: boolean; isShort: boolean }): Promise<void>
  /** How it is, as metrics have it, and how often (in milliseconds) that is asked. */
  readonly figures?: {
    everyMs: number
    /** @throws AppError unavailable where it does not answer. */
    read(datastore: StoredDatastore, endpoint: ServerEndpoint): Promise<DatastoreFigures>
  }
  /** Gets ready for an upgrade what can be while its server runs. Repeatable. */
  prepareUpgrade?(datastore: StoredDatastore): Promise<void>
  /** Takes the next step of an upgrade while nothing runs. Returns whether there was one that could be taken. Repeatable. */
  stepUpgrade?(datastore: StoredDatastore): Promise<boolean>
  /** Called before anything of a datastore is taken away, while its server may run still. Repeatable. */
  beforeRemoval?(datastore: StoredDatastore): Promise<void>
}

export type DatastoreServers = Readonly<Partial<Record<DatastoreKind, DatastoreServer>>>

export function serverOf(servers: DatastoreServers, { id, kind }: Pick<StoredDatastore, 'id' | 'kind'>): DatastoreServer {
  const server = servers[kind]
  if (server === undefined) throw new Error(`Nothing is known of the kind ${kind}, of which ${id} is`)
  return server
}
