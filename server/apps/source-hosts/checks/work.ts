import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import { createPlaces } from '../../../platform/work/places.ts'
import type { AppContext } from '../../context.ts'
import { allWaits, waitOf } from '../../repositories/wait-store.ts'
import { lookAtChecks } from './look.ts'

const LOOKS_AT_ONCE = 4

export interface CheckWork {
  poke(serviceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

/** Deploys commits that wait for their checks once those have passed. */
export function createCheckWork(context: AppContext): CheckWork {
  const places = createPlaces(LOOKS_AT_ONCE)
  const driver = createDriver({
    run: (serviceId) => places.run(() => lookAtChecks(context, serviceId)),
    onError: (serviceId, error) => context.log.error('checks not looked at', { serviceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke(serviceId) {
      if (waitOf(context.db, serviceId) !== undefined) driver.poke(serviceId)
    },
    pokeAll() {
      for (const { serviceId } of allWaits(context.db)) driver.poke(serviceId)
    },
    settled: driver.settled,
  }
}
