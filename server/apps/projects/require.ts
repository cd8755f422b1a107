import { AppError } from '../../../shared/error.ts'
import { refuseProtected, type Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { findEnvironment, findProject, type StoredEnvironment, type StoredProject } from './store.ts'
import { seenPlaces } from './visible.ts'

/** A project that the caller sees. @throws AppError not_found, also for one of another workspace. */
export function requireProject({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string): StoredProject {
  const project = findProject(db, viewer.workspaceId, id)
  if (project === undefined || seenPlaces(db, viewer)?.projectIds.has(id) === false)
    throw new AppError('not_found', `There is no project ${id} in this workspace. GET /v1/projects lists those there are.`)
  return project
}

/**
 * An environment that the caller sees.
 * @throws AppError not_found, also for one of another workspace; forbidden where it is protected and the operation is refused in such.
 */
export function requireEnvironment({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string): StoredEnvironment {
  const environment = findEnvironment(db, viewer.workspaceId, id)
  if (environment === undefined || seenPlaces(db, viewer)?.environmentIds.has(id) === false)
    throw new AppError('not_found', `There is no environment ${id} in this workspace. GET /v1/environments lists those there are.`)
  refuseProtected(db, viewer, id)
  return environment
}
