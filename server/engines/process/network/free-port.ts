import { AppError } from '../../../../shared/error.ts'

export interface PortRange {
  first: number
  last: number
}

/** Below Linux's default range for outgoing connections (32768–60999), so that these cannot take one of ours in between. */
export const INSTANCE_PORTS: PortRange = { first: 20_000, last: 29_999 }

/** A free port of 127.0.0.1, begun anywhere so that one just given back is not at once another's. @throws AppError `unavailable`. */
export function findFreePort(range: PortRange, taken: ReadonlySet<number>): number {
  const size = range.last - range.first + 1
  const offset = Math.floor(Math.random() * size)
  for (let step = 0; step < size; step++) {
    const port = range.first + ((offset + step) % size)
    if (!taken.has(port) && isPortFree(port)) return port
  }
  throw new AppError('unavailable', `All ports from ${range.first} to ${range.last} are in use; stop instances or widen the range`)
}

function isPortFree(port: number): boolean {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, exclusive: true, socket: { data: () => {} } }).stop(true)
    return true
  } catch {
    return false
  }
}
