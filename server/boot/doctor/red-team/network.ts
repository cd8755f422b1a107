import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Attempt, Try } from './attempt.ts'
import type { ListenerTarget, Targets } from './targets.ts'

const CONNECT_TIMEOUT_MS = 2000

export function networkTries({ sockets, listeners, neighbourListeners, names }: Targets): Try[] {
  return [
    {
      id: 'reach-control-sockets',
      title: "reaches the control plane's sockets",
      guarantee: 'private-files',
      attempts: sockets.filter((path) => !path.startsWith('@')).map(reachingSocket),
    },
    {
      id: 'reach-abstract-sockets',
      title: "reaches the machine's sockets with abstract names",
      guarantee: 'own-network',
      attempts: sockets.filter((path) => path.startsWith('@')).map(reachingSocket),
    },
    {
      id: 'reach-machine',
      title: "reaches the API, a port of the machine, or a cloud's metadata",
      guarantee: 'no-control-egress',
      attempts: [...listeners, ...atGateways(listeners)].map(reachingListener),
    },
    {
      id: 'reach-neighbour',
      title: "reaches another service's port",
      guarantee: 'private-network',
      attempts: neighbourListeners.map(reachingListener),
    },
    {
      id: 'reach-names',
      title: 'reaches a private service of another network by its name',
      guarantee: 'private-network',
      attempts: names.map(({ name, port }) => reachingListener({ what: 'by name', host: name, port })),
    },
  ]
}

function atGateways(listeners: readonly ListenerTarget[]): ListenerTarget[] {
  const ports = [...new Set(listeners.map(({ port }) => port))]
  return gateways().flatMap((host) => ports.map((port) => ({ what: 'the gateway', host, port })))
}

/** The gateway in /proc/net/route is the third field, an address as a hexadecimal number whose lowest byte comes first. */
const gateways = (): string[] =>
  readFileSync('/proc/net/route', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t')[2] ?? '')
    .filter((hex) => /^[0-9A-F]{8}$/.test(hex) && hex !== '00000000')
    .map((hex) => [...Buffer.from(hex, 'hex')].toReversed().join('.'))

const reachingSocket = (path: string): Attempt => ({
  what: path,
  act: () => connected({ path: path.startsWith('@') ? `\0${path.slice(1)}` : path }),
})

const reachingListener = ({ what, host, port }: ListenerTarget): Attempt => ({
  what: `${what} at ${host}:${port}`,
  act: () => connected({ host, port }),
})

function connected(where: { path: string } | { host: string; port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(where)
    const end = (settle: () => void) => {
      socket.destroy()
      settle()
    }
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(() => (isCutOff(error) ? resolve('connected, then cut off') : reject(error))),
    )
    socket.once('connect', () => end(() => resolve('connected')))
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => end(() => reject(new Error('no answer'))))
  })
}

/** Whoever takes a connection and closes it at once was reached: it may be told as a reset before it is told as connected. */
const isCutOff = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE'
