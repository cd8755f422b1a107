import { connect } from 'node:net'
import type { Attempt, Try } from './attempt.ts'
import type { ListenerTarget, Targets } from './targets.ts'

const CONNECT_TIMEOUT_MS = 2000

/** What a hostile app tries to reach of the machine and of others. */
export function networkTries({ sockets, listeners, names }: Targets): Try[] {
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
      id: 'reach-listeners',
      title: "reaches the API's port, other services' ports, the machine's, or a cloud's metadata",
      guarantee: 'own-network',
      attempts: listeners.map(reachingListener),
    },
    {
      id: 'reach-names',
      title: "reaches another workspace's private service by its name",
      guarantee: 'own-network',
      attempts: names.map(({ name, port }) => reachingListener({ what: 'by name', host: name, port })),
    },
  ]
}

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
    socket.once('error', (error) => end(() => reject(error)))
    socket.once('connect', () => end(() => resolve('connected')))
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => end(() => reject(new Error('no answer'))))
  })
}
