/** Services, databases and key-value stores, where it does not matter which of them something is of. */
import type { Database } from 'bun:sqlite'
import { isId } from '../../../shared/id.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { Placed } from '../../identity/scopes/scope.ts'
import type { AppContext } from '../context.ts'
import { requireDatastore } from '../datastores/require.ts'
import { datastoreIdsOf, isAnyDatastoreOutside } from '../datastores/store.ts'
import { requireService } from '../services/require.ts'
import { isAnyOutside, serviceIdsOf } from '../services/store.ts'

export interface Owned extends Placed {
  name: string
  workspaceId: string
}

export const isDatastoreId = (id: string): boolean => isId('postgres', id) || isId('keyValue', id)

/** Where an owner is, also while it is being deleted; one that is gone is in no environment. */
export function placeOfOwner(db: Database, id: string): Placed {
  const query = db.query<Pick<Placed, 'environmentId'>, [{ id: string }]>(
    `SELECT environment_id AS environmentId FROM services WHERE id = $id
     UNION ALL SELECT environment_id FROM datastores WHERE id = $id`,
  )
  return { id, environmentId: query.get({ id })?.environmentId ?? null }
}

/** Ids of all owners that the caller's scope lets through, without those that are being deleted. */
export const ownerIdsOf = (db: Database, viewer: Viewer): string[] => [...serviceIdsOf(db, viewer), ...datastoreIdsOf(db, viewer)]

/** Whether one of these owners, deleted ones aside, is out of a scope. */
export const isAnyOwnerOutside = (db: Database, viewer: Pick<Viewer, 'scope'>, ids: readonly string[]): boolean =>
  isAnyOutside(db, viewer, ids) || isAnyDatastoreOutside(db, viewer, ids)

/** The owner of this id in the caller's workspace. @throws AppError as `requireService` and `requireDatastore` do. */
export const requireOwner = (context: Pick<AppContext, 'db'>, viewer: Viewer, id: string): Owned =>
  isDatastoreId(id) ? requireDatastore(context, viewer, id) : requireService(context, viewer, id)
