import { AppError } from '../../../shared/error.ts'
import { refuseProtected, type Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { findService, type StoredService } from './store.ts'

/**
 * The service of the caller's workspace.
 * @throws AppError not_found, also for a service of another workspace or outside of the scope; forbidden where the operation is refused
 * in its protected environment.
 */
export function requireService({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string): StoredService {
  const service = findService(db, viewer.workspaceId, id)
  if (service === undefined || !isWithin(viewer.scope, service))
    throw new AppError('not_found', `There is no service ${id} in this workspace. GET /v1/services lists those there are.`)
  refuseProtected(db, viewer, service.environmentId)
  return service
}
