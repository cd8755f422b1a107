import { AppError } from '../../../../shared/error.ts'
import { holdNetwork, type NamespaceHandles } from '../kernel/namespace-handles.ts'
import type { ProcessIdentity } from '../kernel/proc.ts'
import { leadToLoopback, listeningSocketsOf, listensOnLoopbackOnly, socketsOf } from './loopback.ts'
import { HOST_ATTACHMENT } from './networks.ts'

export interface RunningInstance {
  leader: ProcessIdentity
  address: string
  members(): number[]
}

export async function exposeLoopback(instance: RunningInstance | undefined, port: number): Promise<boolean> {
  const leader = leaderInOwnNetwork(instance)
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
function networkOf(leader: ProcessIdentity): NamespaceHandles | undefined {
  try {
    return holdNetwork(leader)
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return undefined
    throw error
  }
}

export function siblingConnections(instance: RunningInstance | undefined, port: number, gateway: string): number {
  const leader = leaderInOwnNetwork(instance)
  const isSiblings = ({ isOpen, localPort, remoteAddress }: ReturnType<typeof socketsOf>[number]) =>
    isOpen && localPort === port && remoteAddress !== gateway && !remoteAddress.startsWith('127.')
  return leader === undefined ? 0 : socketsOf(leader.pid).filter(isSiblings).length
}

function leaderInOwnNetwork(instance: RunningInstance | undefined): ProcessIdentity | undefined {
  return instance === undefined || instance.address === HOST_ATTACHMENT.address ? undefined : instance.leader
}
