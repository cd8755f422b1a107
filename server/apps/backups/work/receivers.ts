/**
 * Has the log of every database that runs streamed, and what is finished of it stored. Receivers end with us: the server keeps what they have
 * not had yet for the next one, in its slot.
 */
import { messageOf } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore } from '../../datastores/store.ts'
import { archiveWal } from '../postgres/archive-wal.ts'
import { type Receiver, SLOT, startReceiver } from '../postgres/receiver.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { updateBackupSet } from '../rows/set-store.ts'
import { currentSet } from './current-set.ts'
import { recordBackupEvent } from './events.ts'
import type { Relays } from './relay.ts'
import { type RunningSource, sourceOf } from './source.ts'

const LOOK_EVERY_MS = 5000
/** Nobody tells that a database has come up for the first time. */
const LOOK_FOR_SERVER_MS = 1000
const TOLD_AFTER_MS = 60_000

export interface Receivers {
  poke(datastoreId: string): void
  archive(datastoreId: string): Promise<void>
  /** Ends the receiver of a database, when it has all that the server has written, if that answers. */
  finish(datastore: StoredDatastore): Promise<void>
  settled(): Promise<void>
}

export interface ReceiverParts {
  deps: RepositoryDeps
  relays: Relays
  onStreaming(datastoreId: string): void
}

interface Open {
  receiver: Receiver
  endpoint: string
}

export function createReceivers(context: AppContext, { deps, relays, onStreaming }: ReceiverParts): Receivers {
  const open = new Map<string, Open>()
  const archiving = new Map<string, Promise<unknown>>()
  const health = createHealth(context)

  async function run(id: string): Promise<number | undefined> {
    const datastore = datastoreById(context.db, id)
    if (datastore?.kind !== 'postgres' || datastore.phase === 'deleting') return undefined
    const source = await sourceOf(context, relays, datastore)
    await keepReceiver(datastore, source)
    await archive(id)
    const isAwaited = datastore.phase === 'creating' || (datastore.phase === 'ready' && datastore.suspendedBy === null)
    if (isAwaited && source === undefined) return context.now() + LOOK_FOR_SERVER_MS
    return open.has(id) ? context.now() + LOOK_EVERY_MS : undefined
  }

  async function keepReceiver(datastore: StoredDatastore, source: RunningSource | undefined): Promise<void> {
    const known = open.get(datastore.id)
    if (known !== undefined && known.endpoint !== endpointOf(source)) await known.receiver.stop()
    if (source === undefined) return void health.sound(datastore.id)
    const set = await currentSet(context, datastore)
    if (set === undefined || set.isRemoving || open.has(datastore.id)) return
    try {
      await ensureSlot(context, source)
      const receiver = await startReceiver(deps, source, datastore.id)
      onStreaming(datastore.id)
      open.set(datastore.id, { receiver, endpoint: endpointOf(source) })
      void receiver.ended.then((words) => ended(datastore, words))
      if (set.problem === null) return
      updateBackupSet(context.db, datastore.id, { problem: null })
      recordBackupEvent(context, set, 'postgres_wal_archive_resumed', {})
    } catch (error) {
      health.failed(datastore, messageOf(error))
      throw error
    }
  }

  function ended(datastore: StoredDatastore, words: string): void {
    open.delete(datastore.id)
    if (context.stopping.aborted) return
    health.failed(datastore, words)
    context.after(1000, () => driver.poke(datastore.id))
  }

  async function archive(id: string): Promise<void> {
    const underWay = archiving.get(id) ?? archiveWal(deps, id, context.stopping).finally(() => archiving.delete(id))
    archiving.set(id, underWay)
    if ((await underWay) !== undefined && open.has(id)) health.sound(id)
  }

  const driver = createDriver({
    run,
    onError: (datastoreId, error) => {
      if (!context.stopping.aborted) context.log.error('log of a database not streamed', { datastoreId, ...describeError(error) })
    },
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  context.stopping.addEventListener('abort', () => {
    for (const { receiver } of open.values()) void receiver.stop()
  })
  return {
    poke: driver.poke,
    archive,
    async finish(datastore) {
      const known = open.get(datastore.id)
      if (known === undefined) return
      const source = await sourceOf(context, relays, datastore)
      if (source !== undefined) await untilReceived(context, source)
      await known.receiver.stop()
      await archive(datastore.id)
    },
    async settled() {
      await driver.settled()
      await Promise.all([...open.values()].map(({ receiver }) => receiver.ended))
    },
  }
}

interface Health {
  sound(id: string): void
  failed(datastore: StoredDatastore, reason: string): void
}

/** A restart of the database ends its stream too: only what lasts is told. */
function createHealth({ db, now }: AppContext): Health {
  const failingSince = new Map<string, number>()
  return {
    sound: (id) => void failingSince.delete(id),
    failed({ id, workspaceId, name }, reason) {
      const since = failingSince.get(id) ?? now()
      failingSince.set(id, since)
      if (now() - since < TOLD_AFTER_MS || datastoreById(db, id)?.phase !== 'ready') return
      failingSince.delete(id)
      db.transaction(() => {
        updateBackupSet(db, id, { problem: reason })
        recordBackupEvent({ db, now }, { datastoreId: id, workspaceId, name }, 'postgres_wal_archive_failed', { reason })
      })()
    },
  }
}

const endpointOf = (source: RunningSource | undefined): string =>
  source === undefined ? '' : `${source.endpoint.host}:${source.endpoint.port}`

const LOST = 'lost'

/** A slot whose log the server had to give up is of no use: what is missing is missed by the next backup, which is a full one. */
async function ensureSlot(context: AppContext, source: RunningSource): Promise<void> {
  const connection = await context.connectPostgres({ ...source, ...source.endpoint, database: 'postgres' })
  try {
    const [slot] = await connection.run('SELECT wal_status FROM pg_replication_slots WHERE slot_name = $1', [SLOT])
    if (slot?.wal_status === LOST) await connection.run(`SELECT pg_drop_replication_slot('${SLOT}')`)
    if (slot === undefined || slot.wal_status === LOST) await connection.run(`SELECT pg_create_physical_replication_slot('${SLOT}', true)`)
  } finally {
    await connection.close()
  }
}

const RECEIVED_LOOKS = 50
const RECEIVED_LOOK_MS = 100

async function untilReceived(context: AppContext, source: RunningSource): Promise<void> {
  const connection = await context.connectPostgres({ ...source, ...source.endpoint, database: 'postgres' })
  try {
    for (let look = 0; look < RECEIVED_LOOKS; look += 1) {
      const [found] = await connection.run(
        'SELECT bool_and(flush_lsn >= pg_current_wal_flush_lsn()) AS is_received FROM pg_stat_replication',
      )
      if (found?.is_received !== false) return
      await new Promise<void>((resolve) => void context.after(RECEIVED_LOOK_MS, resolve))
    }
  } finally {
    await connection.close()
  }
}
