/**
 * Ways of replicas to their primaries: a socket in a folder that the sandbox of the replica can read. The primary sees this machine, as with all
 * that is the platform's: nothing has to be opened for others in its network, and a primary that is started elsewhere is found there.
 */
import { mkdirSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { openSocketWay } from '../../platform/network/socket-way.ts'
import type { Paths } from '../../platform/paths.ts'
import { materialFolder } from '../backups/repository/layout.ts'
import type { AppContext, Ways } from '../context.ts'
import { endpointOf } from '../datastores/endpoint.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { WAY_PORT, wayOf } from '../postgres/following.ts'

/** One to stream by, two while a copy is taken, and as many that are ending. */
const MAX_CONNECTIONS = 6

export function createWays(context: Pick<AppContext, 'db' | 'paths' | 'stopping'>): Ways {
  const open = new Map<string, Promise<Server>>()
  context.stopping.addEventListener('abort', () => {
    for (const server of open.values()) void close(server)
  })
  return {
    async open(replica) {
      const opening = open.get(replica.id) ?? openWay(context, replica)
      open.set(replica.id, opening)
      try {
        await opening
      } catch (error) {
        open.delete(replica.id)
        throw error
      }
    },
    async remove(replica) {
      const server = open.get(replica.id)
      open.delete(replica.id)
      if (server !== undefined) await close(server)
      await removeTree(folderOf(context.paths, replica))
    },
  }
}

const folderOf = (paths: Paths, replica: Pick<StoredDatastore, 'id'>): string => materialFolder(paths, wayOf(replica))

function openWay({ db, paths }: Pick<AppContext, 'db' | 'paths'>, replica: Parameters<Ways['open']>[0]): Promise<Server> {
  const { primaryId, number: uid } = replica
  const folder = folderOf(paths, replica)
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  return openSocketWay({
    path: join(folder, `.s.PGSQL.${WAY_PORT}`),
    uid,
    to: () => (primaryId === null ? undefined : endpointOf({ db }, { id: primaryId })),
    maxConnections: MAX_CONNECTIONS,
  })
}

const close = async (opening: Promise<Server>): Promise<void> => void (await opening.catch(() => undefined))?.close()
