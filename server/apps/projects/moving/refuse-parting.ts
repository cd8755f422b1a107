import { setImmediate as nextTurn } from 'node:timers/promises'
import { AppError, type ErrorDetail } from '../../../../shared/error.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { isWithin } from '../../../identity/scopes/scope.ts'
import type { AppContext } from '../../context.ts'
import { openVariables } from '../../env-groups/store/group-store.ts'
import { groupsOfService } from '../../env-groups/store/link-store.ts'
import { type EnvEntry, listEnv } from '../../services/env-store.ts'
import { membersOf, type NetworkChange } from './network.ts'
import { linksTo, type PartedLink, partings } from './parted.ts'

const MOST_TOLD = 20

interface Parting {
  change: NetworkChange
  pathOf(link: PartedLink): string
  unlinked?: readonly ErrorDetail[]
}

export async function refuseParting(
  context: Pick<AppContext, 'db' | 'sealer'>,
  actor: Pick<Actor, 'workspaceId' | 'scope'>,
  { change, pathOf, unlinked = [] }: Parting,
): Promise<void> {
  const links: PartedLink[] = []
  for (const { member, parted } of partings(membersOf(context.db, actor.workspaceId, change))) {
    links.push(...linksTo(member, parted, variablesOf(context, member.id)))
    await nextTurn()
  }
  if (links.length + unlinked.length > 0) throw partedError({ links, unlinked }, actor, pathOf)
}

/** A service's own variables, and those of its groups, each as it was set. */
const variablesOf = (context: Pick<AppContext, 'db' | 'sealer'>, serviceId: string): EnvEntry[] => [
  ...listEnv(context, serviceId),
  ...groupsOfService(context.db, serviceId).flatMap(({ id, sealed }) => openVariables(context, id, sealed)),
]

interface Lost {
  links: readonly PartedLink[]
  unlinked: readonly ErrorDetail[]
}

/** Services that the caller does not see are counted, and not named. */
function partedError({ links, unlinked }: Lost, { scope }: Pick<Actor, 'scope'>, pathOf: (link: PartedLink) => string): AppError {
  const seen = links.filter(({ user, used }) => isWithin(scope, user) && isWithin(scope, used))
  const details = seen.slice(0, MOST_TOLD).map((link) => ({ path: pathOf(link), message: inWords(link) }))
  const told = details.length === 0 ? '' : `: ${details.map(({ message }) => message).join('; ')}`
  const untold = links.length - details.length
  const more = untold === 0 ? '' : `${details.length === 0 ? ':' : ', and'} ${untold} more`
  const sentences = [
    ...(links.length > 0 ? [`Services would no longer reach what they use${told}${more}.`] : []),
    ...unlinked.slice(0, MOST_TOLD).map(({ message }) => `${message}.`),
  ]
  return new AppError('conflict', `${sentences.join(' ')} Move them together, or repeat it with force=true.`, {
    details: [...details, ...unlinked.slice(0, MOST_TOLD)],
  })
}

const inWords = ({ user, key, used }: PartedLink): string =>
  `${user.name} (${user.id}) names ${used.name} (${used.id}) in its variable ${key}`
