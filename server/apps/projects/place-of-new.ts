import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isEnvironmentWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { requireEnvironment } from './require.ts'

/**
 * Where what is made is to be: in the environment that is asked for, or in the only one of somebody who is confined to it; null is in none.
 * @throws AppError not_found for another environment, forbidden naming where somebody who is confined may make `things`.
 */
export function placeOfNew(
  context: Pick<AppContext, 'db'>,
  actor: Actor,
  { wanted, things }: { wanted: string | null | undefined; things: string },
): string | null {
  const { scope } = actor
  const only = scope?.reach.size === 1 ? [...scope.reach][0] : undefined
  const environmentId = wanted ? requireEnvironment(context, actor, wanted).id : (only ?? null)
  if (isEnvironmentWithin(scope, environmentId)) return environmentId
  throw notThere(actor, things)
}

/** The refusal of something new where somebody who is confined may make none. */
export function notThere({ scope }: Pick<Actor, 'scope'>, things: string): AppError {
  const places = [...(scope?.reach ?? [])].join(', ')
  if (places === '')
    return new AppError('forbidden', `You are confined, and none of your environments is left to make ${things} in. Ask an administrator.`)
  return new AppError(
    'forbidden',
    `You are confined, and may make ${things} in your environments only. Say which by environmentId: ${places}.`,
  )
}
