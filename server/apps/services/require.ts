import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { findService, type StoredService } from './store.ts'

export type Viewer = Pick<Actor, 'workspaceId' | 'scope'>

/** The service of the caller's workspace. @throws AppError not_found, also for a service of another workspace or outside of the scope. */
export function requireService(context: Pick<AppContext, 'db'>, { workspaceId, scope }: Viewer, id: string): StoredService {
  const service = isWithin(scope, id) ? findService(context.db, workspaceId, id) : undefined
  if (service === undefined)
    throw new AppError('not_found', `There is no service ${id} in this workspace. GET /v1/services lists those there are.`)
  return service
}
