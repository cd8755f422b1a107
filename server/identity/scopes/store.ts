import type { Database } from 'bun:sqlite'
import { AppError, invalidValue } from '../../../shared/error.ts'
import type { ScopeInput } from '../../../shared/scope.ts'
import type { NamedScope } from './scope.ts'

type Field = keyof NonNullable<ScopeInput>

const fields: Record<Field, { noun: string; list: string; exists: string }> = {
  serviceIds: {
    noun: 'service',
    list: 'GET /v1/services',
    exists: 'SELECT 1 FROM services WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL',
  },
  environmentIds: {
    noun: 'environment',
    list: 'GET /v1/environments',
    exists: 'SELECT 1 FROM environments WHERE id = ? AND workspace_id = ?',
  },
  projectIds: { noun: 'project', list: 'GET /v1/projects', exists: 'SELECT 1 FROM projects WHERE id = ? AND workspace_id = ?' },
}

/** @throws AppError `validation_failed` for a scope that names nothing, `not_found` for an id that the workspace does not have. */
export function requireScope(db: Database, workspaceId: string, wanted: ScopeInput | undefined): NamedScope {
  if (wanted == null) return undefined
  const idsOf = (field: Field): ReadonlySet<string> => {
    for (const [index, id] of (wanted[field] ?? []).entries()) requireThing(db, workspaceId, { field, index, id })
    return new Set(wanted[field])
  }
  const scope = { serviceIds: idsOf('serviceIds'), environmentIds: idsOf('environmentIds'), projectIds: idsOf('projectIds') }
  if (scope.serviceIds.size + scope.environmentIds.size + scope.projectIds.size > 0) return scope
  throw invalidValue('/scope', 'Name at least one service, environment or project; null is the whole workspace.')
}

function requireThing(db: Database, workspaceId: string, { field, index, id }: { field: Field; index: number; id: string }): void {
  const { noun, list, exists } = fields[field]
  if (db.query(exists).get(id, workspaceId) !== null) return
  throw new AppError('not_found', `There is no ${noun} ${id} in this workspace. ${list} lists those there are.`, {
    details: [{ path: `/scope/${field}/${index}`, message: `is not the id of a ${noun}` }],
  })
}

/**
 * Takes a deleted service, environment or project out of every scope; a scope of nothing else is empty then, not the whole workspace.
 * Belongs in the transaction of the deletion.
 */
export function dropFromScopes(db: Database, { id, workspaceId }: { id: string; workspaceId: string }): void {
  for (const table of ['members', 'api_keys', 'invites']) {
    db.query(
      `UPDATE ${table} SET scope = (SELECT json_group_array(value) FROM json_each(${table}.scope) WHERE value <> $id)
       WHERE workspace_id = $workspaceId AND EXISTS (SELECT 1 FROM json_each(${table}.scope) WHERE value = $id)`,
    ).run({ id, workspaceId })
  }
}
