import type { Database } from 'bun:sqlite'
import { readSeeded } from '../../identity/memberships/seeded.ts'
import { reachOf } from '../../identity/scopes/reach.ts'
import { isWithin, type NamedScope, scopeColumn } from '../../identity/scopes/scope.ts'
import { placeOfOwner } from '../owners/owners.ts'

export interface Recipient {
  userId: string
  scope: NamedScope
}

const MOST_RECIPIENTS = 1000

/**
 * Members who want mail. An address that nobody has proven may be a stranger's, so it gets none; the operator gave that of the first
 * administrator.
 */
export const recipientsOf = (db: Database, workspaceId: string): Recipient[] =>
  db
    .query<{ userId: string; scope: string | null }, [Record<string, string | number>]>(
      `SELECT m.user_id AS userId, m.scope FROM members m JOIN users u ON u.id = m.user_id
       WHERE m.workspace_id = $workspaceId AND (u.email_proven_at IS NOT NULL OR u.id = $seeded)
         AND NOT EXISTS (SELECT 1 FROM notification_refusals r WHERE r.user_id = u.id AND r.workspace_id = $workspaceId)
       ORDER BY u.id LIMIT $limit`,
    )
    .all({ workspaceId, seeded: readSeeded(db)?.userId ?? '', limit: MOST_RECIPIENTS })
    .map(({ userId, scope }) => ({ userId, scope: scopeColumn.read(scope) }))

/** Whether a recipient may see what happened to a service or datastore; what is of none concerns the whole workspace. */
export function maySee(db: Database, { scope }: Recipient, serviceId: string | null): boolean {
  const reach = reachOf(db, scope)
  return reach === undefined || (serviceId !== null && isWithin(reach, placeOfOwner(db, serviceId)))
}
