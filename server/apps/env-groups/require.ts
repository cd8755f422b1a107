import { AppError } from '../../../shared/error.ts'
import { refuseProtected, type Viewer } from '../../identity/scopes/protection.ts'
import { isEnvironmentWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { findGroup, type StoredGroup } from './store/group-store.ts'

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
