import { AppError } from '../../../shared/error.ts'
import { isId } from '../../../shared/id.ts'
import { refuseProtected, type Viewer } from '../../identity/scopes/protection.ts'
import { isWithin } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { type DatastoreKind, findDatastore, type StoredDatastore } from './store.ts'

const kinds: Record<DatastoreKind, { noun: string; list: string }> = {
  postgres: { noun: 'database', list: 'GET /v1/postgres' },
  key_value: { noun: 'key-value store', list: 'GET /v1/key-value' },
}

/**
 * The datastore of the caller's workspace, of the kind that is asked for if one is.
 * @throws AppError not_found, also for one of another workspace, of another kind, or outside of the scope; forbidden where the operation
 * is refused in its protected environment.
 */
export function requireDatastore({ db }: Pick<AppContext, 'db'>, viewer: Viewer, id: string, kind?: DatastoreKind): StoredDatastore {
  const found = findDatastore(db, viewer.workspaceId, id)
  if (found === undefined || !isWithin(viewer.scope, found) || (kind !== undefined && found.kind !== kind)) {
    const { noun, list } = kinds[kind ?? (isId('keyValue', id) ? 'key_value' : 'postgres')]
    throw new AppError('not_found', `There is no ${noun} ${id} in this workspace. ${list} lists those there are.`)
  }
  refuseProtected(db, viewer, found.environmentId)
  return found
}
