import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { ScopeInput } from '../../../shared/scope.ts'
import type { ServiceScope } from './scope.ts'

/** @throws AppError `not_found` for the id of a service that the workspace does not have. */
export function requireScope(db: Database, workspaceId: string, wanted: ScopeInput | undefined): ServiceScope {
  if (wanted == null) return undefined
  for (const [index, id] of wanted.serviceIds.entries()) {
    if (isServiceOf(db, workspaceId, id)) continue
    throw new AppError('not_found', `There is no service ${id} in this workspace. GET /v1/services lists those there are.`, {
      details: [{ path: `/scope/serviceIds/${index}`, message: 'is not the id of a service' }],
    })
  }
  return new Set(wanted.serviceIds)
}

/** Takes a deleted service out of every scope; a scope of nothing else is empty then. Belongs in the transaction of the deletion. */
export function dropFromScopes(db: Database, { id, workspaceId }: { id: string; workspaceId: string }): void {
  for (const table of ['members', 'api_keys', 'invites']) {
    db.query(
      `UPDATE ${table} SET scope = (SELECT json_group_array(value) FROM json_each(${table}.scope) WHERE value <> $id)
       WHERE workspace_id = $workspaceId AND EXISTS (SELECT 1 FROM json_each(${table}.scope) WHERE value = $id)`,
    ).run({ id, workspaceId })
  }
}

const isServiceOf = (db: Database, workspaceId: string, id: string): boolean =>
  db.query('SELECT 1 FROM services WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL').get(id, workspaceId) !== null
