/**
 * Ways to databases for the tools of backups, who may connect to none by themselves: networks of tenants are closed to every user but ours. A tool
 * finds its server as a socket in the folder of its set.
 */
import { mkdirSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { type Endpoint, openSocketWay } from '../../../platform/network/socket-way.ts'
import type { Paths } from '../../../platform/paths.ts'
import { setFoldersOf } from '../repository/layout.ts'

/** The name that libpq looks for ends with the port. */
const PORT = 5432
const NAME = `.s.PGSQL.${PORT}`

export interface Relays {
  /** Leads a database's tools to its server. Returns what they are told as host and port. */
  open(datastoreId: string, to: Endpoint, uid: number): Promise<Endpoint>
  close(): void
}

interface Relay {
  to: Endpoint
  server: Server
}

export function createRelays(paths: Paths): Relays {
  const relays = new Map<string, Relay>()
  return {
    async open(datastoreId, to, uid) {
      const { root } = setFoldersOf(paths, datastoreId)
      const known = relays.get(datastoreId)
      if (known === undefined) {
        mkdirSync(root, { recursive: true, mode: 0o711 })
        const way = { path: join(root, NAME), uid, to: () => relays.get(datastoreId)?.to }
        relays.set(datastoreId, { to, server: await openSocketWay(way) })
      } else known.to = to
      return { host: root, port: PORT }
    },
    close() {
      for (const { server } of relays.values()) server.close()
    },
  }
}
