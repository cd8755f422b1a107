import { AppError } from '../../shared/error.ts'

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
  const byService = new Map<string, number>()
  let total = 0
  const add = (serviceId: string, count: number) => {
    const left = (byService.get(serviceId) ?? 0) + count
    if (left === 0) byService.delete(serviceId)
    else byService.set(serviceId, left)
    total += count
  }
  return {
    take(serviceId) {
      if ((byService.get(serviceId) ?? 0) >= MAX_SHELLS_OF_SERVICE)
        throw new AppError('conflict', `This service has ${MAX_SHELLS_OF_SERVICE} shells open, which is the most. Close one of them.`)
      if (total >= MAX_SHELLS)
        throw new AppError('unavailable', `This server has ${MAX_SHELLS} shells open, which is the most. Try again when some are closed.`)
      add(serviceId, 1)
      let isTaken = true
      return () => {
        if (isTaken) add(serviceId, -1)
        isTaken = false
      }
    },
  }
}
