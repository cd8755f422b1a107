import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { ListenerTarget } from './red-team/targets.ts'

export interface Bait {
  files: string[]
  folders: string[]
  sockets: string[]
  listeners: ListenerTarget[]
  close(): Promise<void>
}

const ROOTS_ALONE = 0o700
const SECRET = 0o600

export async function layBait(dir: string): Promise<Bait> {
  await mkdir(dir, { mode: ROOTS_ALONE })
  const files = ['master.key', 'control.db', 'routes.json'].map((name) => join(dir, name))
  for (const path of files) await writeFile(path, randomBytes(32), { mode: SECRET })
  const sockets = [join(dir, 'control.sock'), `@cpd-doctor-${randomBytes(8).toString('hex')}`]
  const [loopback, everywhere] = [await listen({ host: '127.0.0.1', port: 0 }), await listen({ host: '0.0.0.0', port: 0 })]
  const servers = [loopback, everywhere, ...(await Promise.all(sockets.map((path) => listen({ path: path.replace(/^@/, '\0') }))))]
  return {
    files,
    folders: [dir],
    sockets,
    listeners: [
      { what: 'the API', host: '127.0.0.1', port: portOf(loopback) },
      ...[...new Set(ownAddresses())].map((host) => ({ what: 'a port of the machine', host, port: portOf(everywhere) })),
    ],
    close: async () => {
      for (const server of servers) server.close()
    },
  }
}

function listen(where: ListenOptions): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => resolve(server))
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])),
  )
