import { AppError } from '../../../shared/error.ts'
import { refuseProtected, requireProtectedRight, seesValues, type Viewer } from '../../identity/scopes/protection.ts'
import { isEnvironmentWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { findDatastore } from '../datastores/store.ts'
import { datastoresOfGroup, findGroup, type StoredGroup } from './store/group-store.ts'
import { environmentsServed } from './store/link-store.ts'

/** Who is confined sees the groups of their environments and projects. A group of the whole workspace is nobody's who is confined. */
export const isGroupWithin = (
  { scope }: Pick<Viewer, 'scope'>,
  { environmentId, projectId }: Pick<StoredGroup, 'environmentId' | 'projectId'>,
): boolean => isEnvironmentWithin(scope, environmentId) || (projectId !== null && scope?.projectIds.has(projectId) === true)

/**
 * A group of the caller's workspace.
 * @throws AppError not_found, also for one of another workspace or outside of the scope; forbidden where the operation is refused in its
 * protected environment.
 */
export function requireGroup({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string): StoredGroup {
  const group = findGroup(db, viewer.workspaceId, id)
  if (group === undefined || !isGroupWithin(viewer, group))
    throw new AppError('not_found', `There is no env group ${id} in this workspace. GET /v1/env-groups lists those there are.`)
  refuseProtected(db, viewer, group.environmentId)
  return group
}

type Placed = Pick<StoredGroup, 'id' | 'environmentId'>

/** What a group holds is protected where it is, and where it is used: else it would tell what services in production are given. */
const placesOf = (db: AppContext['db'], { id, environmentId }: Placed): (string | null)[] => [environmentId, ...environmentsServed(db, id)]

export const seesGroupValues = (db: AppContext['db'], actor: Parameters<typeof seesValues>[1], group: Placed): boolean =>
  placesOf(db, group).every((environmentId) => seesValues(db, actor, environmentId))

export function requireRightToUsed({ db }: Pick<AppContext, 'db'>, viewer: Viewer, group: Placed): void {
  for (const environmentId of placesOf(db, group)) requireProtectedRight(db, viewer, environmentId)
}

/** What datastores of a protected environment say to a group is said to whoever is linked to it. */
export function requireRightToReferred(
  { db }: Pick<AppContext, 'db'>,
  viewer: Viewer,
  { group, environmentId }: { group: Placed; environmentId: string | null },
): void {
  for (const id of datastoresOfGroup(db, group.id)) {
    const place = findDatastore(db, viewer.workspaceId, id)?.environmentId ?? null
    if (place !== environmentId) requireProtectedRight(db, viewer, place)
  }
}
