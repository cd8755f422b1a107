/**
 * Looks after the disk of a datastore whose server runs: tells when it fills, has it grow where it does so by itself, and has the server take
 * no writes before it is full to the last byte, which it would not survive in order.
 */
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { growByItself } from './disk-growth.ts'
import { isShort, nextDiskState, shareOf } from './disk-rules.ts'
import { runningServer } from './endpoint.ts'
import { type CommonEvent, recordDatastoreEvent } from './events.ts'
import { type DatastoreServer, type DatastoreServers, serverOf } from './kind.ts'
import { datastoreById, type StoredDatastore, updateDatastore } from './store.ts'

const LOOK_MS = 5000
/** A server writes some hundred megabytes in a second. */
const LOOK_CLOSELY_MS = 1000
const CLOSE_SHARE = 0.7

export interface DiskWatch {
  /** Returns when to look again though nothing happens (ms since 1970), or undefined. */
  look(datastoreId: string): Promise<number | undefined>
}

export function createDiskWatch(context: AppContext, servers: DatastoreServers): DiskWatch {
  /** What servers have been told, by datastore: at the first look of this control plane nobody knows. */
  const told = new Map<string, string>()
  return {
    async look(id) {
      const running = runningServer(context.db, id)
      const found = datastoreById(context.db, id)
      if (found === undefined) told.delete(id)
      if (found?.phase === 'creating') return context.now() + LOOK_MS
      if (found?.phase !== 'ready' || running === undefined) return undefined
      const space = (await context.engine.usage(running.id))?.disk
      if (space === undefined) return undefined
      const server = serverOf(servers, found)
      const datastore = note(context, server, { id, space })
      if (datastore === undefined) return undefined
      const { diskState, sizeGb } = datastore
      const situation = `${running.id} ${running.startedAt} ${diskState} ${sizeGb}`
      const isChanged = told.get(id) !== situation
      if (isChanged || diskState === 'full') await server.fitToDisk?.(datastore, running.endpoint, { isChanged, isShort: isShort(space) })
      told.set(id, situation)
      return context.now() + lookAfterMs(space)
    },
  }
}

const lookAfterMs = (space: Seen['space']): number => (shareOf(space) < CLOSE_SHARE ? LOOK_MS : LOOK_CLOSELY_MS)

interface Seen {
  id: string
  space: Parameters<typeof nextDiskState>[1]
}

function note(context: AppContext, server: DatastoreServer, { id, space }: Seen): StoredDatastore | undefined {
  return inOneChange(context.db, () => {
    const datastore = datastoreById(context.db, id)
    if (datastore?.phase !== 'ready') return undefined
    const diskState = nextDiskState(datastore.diskState, space, server.fullDisk)
    const event = eventOf(datastore.diskState, diskState)
    if (event !== undefined) {
      updateDatastore(context.db, id, { diskState }, context.now())
      recordDatastoreEvent(context, datastore, event, detailsOf(datastore, space))
    }
    growByItself(context, server, { datastore, space })
    return datastoreById(context.db, id)
  })
}

function eventOf(from: StoredDatastore['diskState'], to: StoredDatastore['diskState']): CommonEvent | undefined {
  if (from === to) return undefined
  if (to === 'full') return 'full'
  return to === 'nearly_full' && from === 'ok' ? 'nearlyFull' : 'writable'
}

const PERCENT = 100

const detailsOf = ({ sizeGb }: StoredDatastore, space: Seen['space']) => ({
  diskSizeGB: sizeGb,
  usedPercent: Math.round(shareOf(space) * PERCENT),
})
