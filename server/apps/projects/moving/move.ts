import { AppError } from '../../../../shared/error.ts'
import { isId } from '../../../../shared/id.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import { requireProtectedRight, type Viewer } from '../../../identity/scopes/protection.ts'
import { isEnvironmentWithin, isWithin } from '../../../identity/scopes/scope.ts'
import type { AppContext } from '../../context.ts'
import { linksBrokenBy, type Relocation } from '../../env-groups/broken-links.ts'
import { type PlacedLink, removeLink } from '../../env-groups/store/link-store.ts'
import { isDatastoreId } from '../../owners/owners.ts'
import { findResource, type PlacedResource, placeResource } from '../contents.ts'
import { refuseParting } from './refuse-parting.ts'

export interface Move {
  resourceIds: readonly string[]
  to: string | null
  pathOf(resourceId: string): string
}

export function seenResource({ db }: Pick<AppContext, 'db'>, { workspaceId, scope }: Viewer, id: string): PlacedResource | undefined {
  const resource = findResource(db, workspaceId, id)
  return resource !== undefined && isWithin(scope, resource) ? resource : undefined
}

export function requireResource(context: Pick<AppContext, 'db'>, viewer: Viewer, id: string): PlacedResource {
  const resource = seenResource(context, viewer, id)
  if (resource === undefined) throw new AppError('not_found', notThere(id))
  return resource
}

function notThere(id: string): string {
  const none = (noun: string, list: string) => `There is no ${noun} ${id} in this workspace. ${list} lists those there are.`
  if (isId('envGroup', id)) return none('env group', 'GET /v1/env-groups')
  if (isId('postgres', id)) return none('database', 'GET /v1/postgres')
  if (isId('keyValue', id)) return none('key-value store', 'GET /v1/key-value')
  return `${none('service', 'GET /v1/services')}${isId('disk', id) ? ' A disk is where its service is.' : ''}`
}

export async function refusePartingMove(context: Pick<AppContext, 'db' | 'sealer'>, actor: Actor, move: Move): Promise<void> {
  const ids = new Set(leaving(context, actor, move).map(({ id }) => id))
  if (ids.size === 0) return
  const unlinked = linksLost(context, actor, { ids, to: move.to }).map(({ serviceId, serviceName, groupId, groupName }) => ({
    path: move.pathOf(ids.has(serviceId) ? serviceId : groupId),
    message: `${serviceName} (${serviceId}) would no longer have the variables of ${groupName} (${groupId})`,
  }))
  await refuseParting(context, actor, {
    change: { places: new Map([...ids].map((id) => [id, move.to])) },
    pathOf: ({ user, used }) => move.pathOf(ids.has(user.id) ? user.id : used.id),
    unlinked,
  })
}

/** Moves all of them. Belongs in one change. @throws AppError not_found, forbidden for what a protected environment keeps. */
export function carryOut(context: Pick<AppContext, 'db' | 'now' | 'work'>, actor: Actor, move: Move): void {
  const resources = leaving(context, actor, move)
  const lost = linksLost(context, actor, { ids: new Set(resources.map(({ id }) => id)), to: move.to })
  for (const link of lost) removeLink(context.db, link)
  for (const { id } of resources) {
    placeResource(context.db, { id, environmentId: move.to }, context.now())
    if (isId('service', id)) context.work.poke('service', id)
    if (isDatastoreId(id)) context.work.poke('datastore', id)
  }
}

/** Links that cannot be after a move. @throws AppError forbidden for those of services that a protected environment keeps. */
function linksLost({ db }: Pick<AppContext, 'db'>, actor: Actor, relocation: Relocation): PlacedLink[] {
  const links = linksBrokenBy(db, relocation)
  for (const { serviceEnvironmentId } of links) requireProtectedRight(db, actor, serviceEnvironmentId)
  return links
}

function leaving({ db }: Pick<AppContext, 'db'>, actor: Actor, { resourceIds, to }: Move): PlacedResource[] {
  const resources = [...new Set(resourceIds)]
    .map((id) => requireResource({ db }, actor, id))
    .filter(({ environmentId }) => environmentId !== to)
  for (const { id, environmentId } of resources) {
    for (const place of [environmentId, to])
      if (!isEnvironmentWithin(actor.scope, place))
        throw new AppError(
          'forbidden',
          'You are confined: you may move what is in your environments, and only from one of them to another.',
        )
    requireProtectedRight(db, actor, environmentId)
    if (isId('envGroup', id) && !actor.permissions.has('env.write'))
      throw new AppError('forbidden', 'Moving an env group needs the permission env.write.')
    if (isDatastoreId(id) && !actor.permissions.has('datastores.update'))
      throw new AppError('forbidden', 'Moving a database or key-value store needs the permission datastores.update.')
  }
  return resources
}
