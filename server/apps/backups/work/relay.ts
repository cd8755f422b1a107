/**
 * Ways to databases for the tools of backups, who may connect to none by themselves: networks of tenants are closed to every user but ours. A tool
 * finds its server as a socket in the folder of its set.
 */
import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Paths } from '../../../platform/paths.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { setFoldersOf } from '../repository/layout.ts'

/** The name that libpq looks for ends with the port. */
const PORT = 5432
const NAME = `.s.PGSQL.${PORT}`

export interface Endpoint {
  host: string
  port: number
}

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
        const relay: Relay = { to, server: createServer((client) => lead(client, relay.to)) }
        await listen(relay.server, join(root, NAME), uid)
        relays.set(datastoreId, relay)
      } else known.to = to
      return { host: root, port: PORT }
    },
    close() {
      for (const { server } of relays.values()) server.close()
    },
  }
}

async function listen(server: Server, path: string, uid: number): Promise<void> {
  rmSync(path, { force: true })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, resolve)
  await promise
  chmodSync(path, 0o600)
  if (isRoot) chownSync(path, uid, uid)
}

function lead(client: Socket, { host, port }: Endpoint): void {
  const server = connect(port, host)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}
