import type { LifecycleContext } from '../lifecycle.ts'
import { readStat } from '../proc.ts'
import { leadToLoopback, listensOnLoopbackOnly, socketsOf } from './loopback.ts'
import { HOST_SEAT } from './networks.ts'

/** See `Engine.exposeLoopback`. @throws AppError `unavailable` when the machine refuses. */
export async function exposeLoopback(context: LifecycleContext, id: string, port: number): Promise<boolean> {
  const pid = pidInOwnNetwork(context, id)
  if (pid === undefined || !listensOnLoopbackOnly(socketsOf(pid), port)) return false
  try {
    await leadToLoopback(pid, port)
    return true
  } catch (error) {
    // It may have ended meanwhile, and its namespace with it.
    if (pidInOwnNetwork(context, id) === undefined || readStat(pid) === undefined) return false
    throw error
  }
}

/** See `Engine.siblingConnections`. */
export function siblingConnections(context: LifecycleContext, id: string, port: number): number {
  const pid = pidInOwnNetwork(context, id)
  const { gateway } = context.networks
  const isSiblings = ({ isOpen, localPort, remoteAddress }: ReturnType<typeof socketsOf>[number]) =>
    isOpen && localPort === port && remoteAddress !== gateway && !remoteAddress.startsWith('127.')
  return pid === undefined ? 0 : socketsOf(pid).filter(isSiblings).length
}

function pidInOwnNetwork({ supervisor, records, networks }: LifecycleContext, id: string): number | undefined {
  const one = supervisor.get(id)
  if (one === undefined || one.end !== undefined || networks.addressOf(id) === HOST_SEAT.address) return undefined
  return records.processOf(one.workload)?.pid
}
