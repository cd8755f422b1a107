import { findFreePort, INSTANCE_PORTS } from './free-port.ts'

export interface HeldPort {
  number: number
  /** To be called once the record of the instance has the port, or nothing was started. Idempotent. */
  release(): void
}

export interface PortPool {
  /** @throws AppError `unavailable` when all are in use. */
  take(): HeldPort
}

/** Ports of the machine for instances that share its network. Of those that are recorded even the ended keep theirs until they are removed. */
export function createPortPool(recorded: () => readonly number[]): PortPool {
  const held = new Set<number>()
  return {
    take() {
      const number = findFreePort(INSTANCE_PORTS, new Set([...held, ...recorded()]))
      held.add(number)
      return { number, release: () => void held.delete(number) }
    },
  }
}
