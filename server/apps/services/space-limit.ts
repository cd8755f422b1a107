import { type BuildPlanName, buildPlans, type PlanName, plans } from '../../../shared/plan.ts'
import type { SpaceLimit } from '../../engines/port/port.ts'
import type { Owner } from '../../engines/port/workload.ts'
import { FILES_PER_MIB } from '../../runtime/space/heaviest-user.ts'
import type { AppContext } from '../context.ts'
import type { StoredService } from './store.ts'

interface PlanNames {
  plan: PlanName
  buildPlan: BuildPlanName
}

export function spaceLimitOf({ plan, buildPlan }: PlanNames): SpaceLimit {
  const mb = plans[plan].diskMb + buildPlans[buildPlan].diskMb
  return { mb, files: mb * FILES_PER_MIB }
}

type Limited = Pick<StoredService, 'id' | 'uid' | 'settings'>

export const limitSpace = ({ engine }: Pick<AppContext, 'engine'>, service: Limited): Promise<void> =>
  engine.limitSpace(engineOwnerOf(service), spaceLimitOf(service.settings))

/** Lifts the limit of a service that is gone: what it was may be given to another. */
export const unlimitSpace = ({ engine }: Pick<AppContext, 'engine'>, service: Limited): Promise<void> =>
  engine.limitSpace(engineOwnerOf(service), undefined)

const engineOwnerOf = ({ id, uid }: Limited): Owner => ({ id, number: uid })
