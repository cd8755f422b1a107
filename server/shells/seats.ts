import { AppError } from '../../shared/error.ts'
import { createHolds } from '../work/holds.ts'

/** Each open shell takes a terminal and, without an instance to join, a plan's worth of memory. */
const MAX_SHELLS = 100
const MAX_SHELLS_OF_SERVICE = 10

/** Counts open shells, so that nobody opens them without end. */
export interface ShellSeats {
  /**
   * Takes a seat; the function returned gives it back, once.
   *
   * @throws AppError conflict when the service, `unavailable` when the server has too many open.
   */
  take(serviceId: string): () => void
}

export function createShellSeats(): ShellSeats {
  const open = createHolds()
  return {
    take(serviceId) {
      if (open.countOf(serviceId) >= MAX_SHELLS_OF_SERVICE)
        throw new AppError('conflict', `This service has ${MAX_SHELLS_OF_SERVICE} shells open, which is the most. Close one of them.`)
      if (open.total() >= MAX_SHELLS)
        throw new AppError('unavailable', `This server has ${MAX_SHELLS} shells open, which is the most. Try again when some are closed.`)
      return open.take(serviceId)
    },
  }
}
