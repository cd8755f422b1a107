import { AppError } from '../../../../shared/error.ts'
import { type HeldNamespaces, holdNetwork } from '../held-namespaces.ts'
import type { LifecycleContext } from '../lifecycle.ts'
import type { ProcessIdentity } from '../proc.ts'
import { leadToLoopback, listeningSocketsOf, listensOnLoopbackOnly, socketsOf } from './loopback.ts'
import { HOST_SEAT } from './networks.ts'

/** See `Engine.exposeLoopback`. @throws AppError `unavailable` when the machine refuses. */
export async function exposeLoopback(context: LifecycleContext, id: string, port: number): Promise<boolean> {
  const leader = leaderInOwnNetwork(context, id)
  const network = leader && networkOf(leader)
  if (leader === undefined || network === undefined) return false
  try {
    if (!listensOnLoopbackOnly(listeningSocketsOf(leader.pid), port)) return false
    await leadToLoopback(network, port)
    return true
  } finally {
    network.release()
  }
}

/** Undefined when the process has ended, or has gone where nobody can follow: its port cannot be reached then either way. */
function networkOf(leader: ProcessIdentity): HeldNamespaces | undefined {
  try {
    return holdNetwork(leader)
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return undefined
    throw error
  }
}

/** See `Engine.siblingConnections`. */
export function siblingConnections(context: LifecycleContext, id: string, port: number): number {
  const leader = leaderInOwnNetwork(context, id)
  const { gateway } = context.networks
  const isSiblings = ({ isOpen, localPort, remoteAddress }: ReturnType<typeof socketsOf>[number]) =>
    isOpen && localPort === port && remoteAddress !== gateway && !remoteAddress.startsWith('127.')
  return leader === undefined ? 0 : socketsOf(leader.pid).filter(isSiblings).length
}

function leaderInOwnNetwork({ supervisor, records, networks }: LifecycleContext, id: string): ProcessIdentity | undefined {
  const one = supervisor.get(id)
  if (one === undefined || one.end !== undefined || networks.addressOf(id) === HOST_SEAT.address) return undefined
  return records.processOf(one.workload)
}
