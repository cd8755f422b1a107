import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import { createPlaces } from '../../../platform/work/places.ts'
import type { AppContext } from '../../context.ts'
import { serviceById, servicesWithRepository } from '../../services/store.ts'
import { lookAt } from '../look-store.ts'
import { isLookedAt, lookAtBranch } from './look.ts'

const LOOKS_AT_ONCE = 2

export interface LookWork {
  pokeAll(): void
  settled(): Promise<void>
}

export function createLookWork(context: AppContext): LookWork {
  const places = createPlaces(LOOKS_AT_ONCE)
  const driver = createDriver({
    run: (serviceId) => places.run(() => lookIfDue(context, serviceId)),
    onError: (serviceId, error) => context.log.error('branch not looked at', { serviceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    pokeAll() {
      for (const service of servicesWithRepository(context.db)) if (isLookedAt(service)) driver.poke(service.id)
    },
    settled: driver.settled,
  }
}

async function lookIfDue(context: AppContext, serviceId: string): Promise<number | undefined> {
  const service = serviceById(context.db, serviceId)
  if (service === undefined || !isLookedAt(service)) return undefined
  const { repo: repository, branch } = service.labels
  const dueAt = lookAt(context.db, { serviceId, repository, branch })?.nextAt ?? 0
  return dueAt > context.now() ? dueAt : await lookAtBranch(context, service, context.stopping)
}
