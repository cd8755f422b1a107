/** Ways by a socket in a folder to somebody whom those who see the folder cannot reach by themselves. */
import { chmodSync, chownSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { isRoot } from '../service-folders.ts'

export interface Endpoint {
  host: string
  port: number
}

export interface SocketWay {
  path: string
  uid: number
  /** Asked at each connection; undefined ends it at once. */
  to(): Endpoint | undefined
  maxConnections?: number
}

/** Opens a way in place of one that was there. @throws whatever the system says. */
export async function openSocketWay({ path, uid, to, maxConnections }: SocketWay): Promise<Server> {
  const server = createServer((client) => lead(client, to()))
  if (maxConnections !== undefined) server.maxConnections = maxConnections
  rmSync(path, { force: true })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(path, resolve)
  await promise
  chmodSync(path, 0o600)
  if (isRoot) chownSync(path, uid, uid)
  return server
}

function lead(client: Socket, to: Endpoint | undefined): void {
  if (to === undefined) return void client.destroy()
  const server = connect(to.port, to.host)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => other.destroy())
    one.pipe(other)
  }
}
