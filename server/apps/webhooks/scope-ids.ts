import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { WebhookPatch } from '../../../shared/webhook.ts'

const kinds = {
  serviceIds: { what: 'service', rows: 'services WHERE deleted_at IS NULL AND', list: 'GET /v1/services' },
  environmentIds: { what: 'environment', rows: 'environments WHERE', list: 'GET /v1/environments' },
  projectIds: { what: 'project', rows: 'projects WHERE', list: 'GET /v1/projects' },
} as const

type Field = keyof typeof kinds
type Scope = Record<Field, readonly string[]>

/** The ids that a body names, for each field that it has. @throws AppError `not_found` for one that the workspace does not have. */
export function scopeIn(db: Database, workspaceId: string, body: Pick<WebhookPatch, Field>): Partial<Scope> {
  const scope: Partial<Scope> = {}
  for (const field of Object.keys(kinds) as Field[]) {
    const ids = body[field]
    if (ids === undefined) continue
    for (const [index, id] of (ids ?? []).entries()) requireOne(db, { workspaceId, field, index, id })
    scope[field] = [...new Set(ids ?? [])]
  }
  return scope
}

interface Named {
  workspaceId: string
  field: Field
  index: number
  id: string
}

function requireOne(db: Database, { workspaceId, field, index, id }: Named): void {
  const { what, rows, list } = kinds[field]
  if (db.query(`SELECT 1 FROM ${rows} id = ? AND workspace_id = ?`).get(id, workspaceId) !== null) return
  throw new AppError('not_found', `There is no ${what} ${id} in this workspace. ${list} lists those there are.`, {
    details: [{ path: `/${field}/${index}`, message: `is not the id of a ${what}` }],
  })
}
