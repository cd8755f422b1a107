/**
 * Has the log of every database that runs streamed, and what is finished of it stored. Receivers end with us: the server keeps what they have
 * not had yet for the next one, in its slot. Storing goes its own way, as a receiver that ended must not wait for it.
 */
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { isLastBeingTaken } from '../rows/backup-store.ts'
import type { Relays } from './relay.ts'
import { untilReceived } from './slot.ts'
import { sourceOf } from './source.ts'
import { createStoring } from './storing.ts'
import { createStreamHealth } from './stream-health.ts'
import { createStreams } from './streams.ts'

const LOOK_EVERY_MS = 5000
/** Nobody tells that a database has come up for the first time, or that its server takes connections again. */
const LOOK_FOR_SERVER_MS = 1000

export interface Receivers {
  poke(datastoreId: string): void
  archive(datastoreId: string): Promise<void>
  /** Returns when a receiver has all that the server of a database has written, or does not get it. */
  untilReceived(datastore: StoredDatastore): Promise<void>
  /** Ends the receiver of a database, when it has all that the server has written, if that answers. */
  finish(datastore: StoredDatastore): Promise<void>
  settled(): Promise<void>
}

export interface ReceiverParts {
  deps: RepositoryDeps
  relays: Relays
  onStreaming(datastoreId: string): void
}

export function createReceivers(context: AppContext, { deps, relays, onStreaming }: ReceiverParts): Receivers {
  const health = createStreamHealth(context)
  const storing = createStoring(context, deps, health)
  const streams = createStreams(context, {
    deps,
    storing,
    health,
    onStarted: onStreaming,
    onEnded: (id) => void context.after(LOOK_FOR_SERVER_MS, () => driver.poke(id)),
  })

  const onError = (datastoreId: string, error: unknown): void => {
    if (!context.stopping.aborted) context.log.error('log of a database not streamed', { datastoreId, ...describeError(error) })
  }
  async function run(id: string): Promise<number | undefined> {
    const datastore = streamedOf(context, id)
    if (datastore === undefined) return undefined
    const isStreaming = await streams.keep({ datastore, source: await sourceOf(context, relays, datastore) })
    storing.poke(id)
    if (isStreaming) return context.now() + LOOK_EVERY_MS
    const isAwaited = datastore.phase === 'creating' || (datastore.phase === 'ready' && datastore.suspendedBy === null)
    return isAwaited ? context.now() + LOOK_FOR_SERVER_MS : undefined
  }

  /** A server that does not answer any more has sent what it has. */
  async function lookUntilReceived(datastore: StoredDatastore): Promise<void> {
    const source = await sourceOf(context, relays, { ...datastore, phase: 'ready' })
    if (source !== undefined) await untilReceived(context, source).catch((error) => onError(datastore.id, error))
  }

  const driver = createDriver({
    run,
    onError,
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  context.stopping.addEventListener('abort', streams.stopAll)
  return {
    poke: driver.poke,
    archive: storing.archive,
    untilReceived: lookUntilReceived,
    async finish(datastore) {
      await lookUntilReceived(datastore)
      await streams.stop(datastore.id)
      await storing.archive(datastore.id)
    },
    async settled() {
      await Promise.all([driver.settled(), storing.settled()])
      await streams.settled()
    },
  }
}

/** A database whose log is wanted, as it is known; one that is to be deleted as if it stayed, for as long as its last backup waits for the log. */
function streamedOf({ db }: Pick<AppContext, 'db'>, id: string): StoredDatastore | undefined {
  const datastore = datastoreById(db, id)
  if (datastore?.kind !== 'postgres' || datastore.primaryId !== null) return undefined
  if (datastore.phase !== 'deleting') return datastore
  return isLastBeingTaken(db, id) ? { ...datastore, phase: 'ready' } : undefined
}
