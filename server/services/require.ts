import { AppError } from '../../shared/error.ts'
import type { Context } from '../context.ts'
import { findService, type StoredService } from './store.ts'

/** The service of the caller's workspace. @throws AppError not_found for a strange id, another workspace's included. */
export function requireService(context: Pick<Context, 'db'>, { workspaceId }: { workspaceId: string }, id: string): StoredService {
  const service = findService(context.db, workspaceId, id)
  if (service === undefined)
    throw new AppError('not_found', `There is no service ${id} in this workspace. GET /v1/services lists those there are.`)
  return service
}
