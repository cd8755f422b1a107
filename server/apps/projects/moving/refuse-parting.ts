import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError } from '../../../../shared/error.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import type { AppContext } from '../../context.ts'
import { listEnv } from '../../services/env-store.ts'
import { membersOf, type NetworkChange } from './network.ts'
import { linksTo, type PartedLink, partings } from './parted.ts'

const MOST_TOLD = 20

/** @throws AppError conflict telling which services name each other and would no longer reach each other. */
export async function refuseParting(
  context: Pick<AppContext, 'db' | 'sealer'>,
  actor: Pick<Actor, 'workspaceId' | 'scope'>,
  { change, pathOf }: { change: NetworkChange; pathOf(link: PartedLink): string },
): Promise<void> {
  const links: PartedLink[] = []
  for (const { member, parted } of partings(membersOf(context.db, actor.workspaceId, change))) {
    links.push(...linksTo(member, parted, listEnv(context, member.id)))
    await nextTurn()
  }
  if (links.length > 0) throw partedError(links, actor, pathOf)
}

/** Services that the caller does not see are counted, and not named. */
function partedError(links: readonly PartedLink[], { scope }: Pick<Actor, 'scope'>, pathOf: (link: PartedLink) => string): AppError {
  const seen = links.filter(({ user, used }) => isWithin(scope, user) && isWithin(scope, used))
  const details = seen.slice(0, MOST_TOLD).map((link) => ({ path: pathOf(link), message: inWords(link) }))
  const told = details.length === 0 ? '' : `: ${details.map(({ message }) => message).join('; ')}`
  const untold = links.length - details.length
  const more = untold === 0 ? '' : `${details.length === 0 ? ':' : ', and'} ${untold} more`
  return new AppError(
    'conflict',
    `Services that use each other would no longer reach each other${told}${more}. Move them together, or repeat it with force=true.`,
    { details },
  )
}

const inWords = ({ user, key, used }: PartedLink): string =>
  `${user.name} (${user.id}) names ${used.name} (${used.id}) in its variable ${key}`
