import type { TouchedService } from '../../../shared/env-group.ts'
import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { pendingFrom, redeploy } from './redeploy.ts'
import { findGroup, type StoredGroup, updateGroup } from './store/group-store.ts'
import { type Effect, watchGroup } from './touched.ts'

export interface Changed {
  group: StoredGroup
  touched: TouchedService[]
}

export interface Change {
  apply(): void
  isDeployed: boolean
  /** The services that it can make a difference for, where those are not all that are linked to the group. */
  services?: readonly string[]
  /** A group goes even if what it hid stands in a circle: the next deploy tells of that. */
  mayMakeCircles?: true
}

/**
 * Changes a group, and tells what that means for services. Belongs in the transaction of the call.
 * @throws AppError validation_failed where variables of a service would refer to each other in a circle.
 */
export function changeGroup(context: AppContext, group: StoredGroup, { apply, isDeployed, services, mayMakeCircles }: Change): Changed {
  const effectsOfChange = watchGroup(context, group.id, services)
  apply()
  updateGroup(context.db, group.id, {}, context.now())
  const effects = effectsOfChange()
  if (mayMakeCircles !== true) refuseCircles(effects)
  return {
    group: findGroup(context.db, group.workspaceId, group.id) ?? group,
    touched: effects.flatMap((effect) => touchedBy(context, group, { effect, isDeployed })),
  }
}

const TOLD_CIRCLES = 10

/** A circle can go through a thousand variables of each of fifty services. */
function refuseCircles(effects: readonly Effect[]): void {
  const details = effects
    .flatMap(({ service, circles }) => circles.map((circle) => ({ service, ...circle })))
    .slice(0, TOLD_CIRCLES)
    .map(({ service, key, problem }) => ({ path: `/${key}`, message: `${key} of ${service.name} ${problem}.` }))
  const [first] = details
  if (first !== undefined) throw new AppError('validation_failed', `${first.message} Give one of them its value.`, { details })
}

function touchedBy(
  context: AppContext,
  group: StoredGroup,
  { effect, isDeployed }: { effect: Effect; isDeployed: boolean },
): TouchedService[] {
  const pending = isDeployed ? pendingFrom(context, group.id, effect) : { envVars: [], secretFiles: [] }
  const envVars = union(effect.envVars, pending.envVars)
  const secretFiles = union(effect.secretFiles, pending.secretFiles)
  if (envVars.length + secretFiles.length === 0) return []
  const { service, variables } = effect
  const wrong = variables.find(({ problem }) => problem !== undefined)
  return [
    {
      ...{ id: service.id, name: service.name, envVars, secretFiles },
      ...(wrong !== undefined && { problem: `${wrong.key} ${wrong.problem}` }),
      ...(isDeployed && redeploy(context, service)),
    },
  ]
}

const union = (one: readonly string[], other: readonly string[]): string[] => [...new Set([...one, ...other])].sort()
