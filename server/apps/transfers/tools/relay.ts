/**
 * The way of tools to a server: they run in a sandbox without a network, and find it as a socket in a folder that they are shown. Whoever
 * opens the connection decides where it leads.
 */
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Duplex, Transform } from 'node:stream'
import { messageOf } from '../../../../shared/error.ts'
import { errorResponse, sqlStates } from '../../../ingress/postgres/error-response.ts'
import { isRoot } from '../../../platform/service-folders.ts'

/** The name that libpq looks for ends with the port. */
const NAME = '.s.PGSQL.5432'
const MOST_CONNECTIONS = 8

export interface Way {
  uid: number
  open(): Promise<Duplex>
  /** Changes what the server says; absent: nothing does. */
  rewrite?(): Transform
}

export interface Relay {
  bytes(): number
  close(): void
}

/** @throws whatever refuses a socket at this place. */
export async function openRelay(folder: string, way: Way): Promise<Relay> {
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const path = join(folder, NAME)
  const ends = new Set<Duplex>()
  let bytes = 0
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length
  }
  const server = createServer({ pauseOnConnect: true }, (client) => {
    if (ends.size >= MOST_CONNECTIONS * 2) return void client.destroy()
    ends.add(client)
    client.once('close', () => ends.delete(client))
    lead(client, way, count).then(
      (other) => {
        ends.add(other)
        other.once('close', () => ends.delete(other))
      },
      (error) => refuse(client, error),
    )
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, resolve)
  await promise
  chmodSync(path, 0o600)
  if (isRoot) for (const one of [path, folder]) chownSync(one, way.uid, way.uid)
  return {
    bytes: () => bytes,
    close() {
      server.close()
      for (const end of ends) end.destroy()
    },
  }
}

async function lead(client: Socket, { open, rewrite }: Way, count: (chunk: Uint8Array) => void): Promise<Duplex> {
  client.on('error', () => client.destroy())
  const server = await open()
  for (const one of [client, server]) one.on('data', count)
  client.on('close', () => server.destroy())
  server.on('error', () => server.destroy())
  // What the server said last is why it went.
  server.on('close', () => client.end())
  client.pipe(server)
  ;(rewrite === undefined ? server : server.pipe(rewrite())).pipe(client)
  return server
}

/** Tools tell in their own words what a server says before it lets them in. */
function refuse(client: Socket, error: unknown): void {
  client.resume()
  client.end(errorResponse({ state: sqlStates.cannotConnectNow, message: messageOf(error) }))
}
