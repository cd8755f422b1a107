import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import type { Actor } from '../../http/handlers/call.ts'

export type Viewer = Pick<Actor, 'workspaceId' | 'scope' | 'guarded'>

/** Stands where a thing is found for a caller, so that no handler can forget it. @throws AppError forbidden where the operation is refused. */
export function refuseProtected(db: Database, { guarded }: Viewer, environmentId: string | null): void {
  if (guarded === 'refused') refuse(db, environmentId)
}

export const isProtected = (db: Database, environmentId: string | null): boolean => protectedNamed(db, environmentId) !== undefined

/** Whether what a caller has begun would be refused now, as the thing was moved or its environment protected meanwhile. */
export const isRefusedNow = (db: Database, { guarded }: Viewer, environmentId: string | null): boolean =>
  guarded === 'refused' && isProtected(db, environmentId)

/** For handlers that decide by what is asked, of operations that say `depends`. @throws AppError forbidden. */
export function requireProtectedRight(db: Database, { guarded }: Viewer, environmentId: string | null): void {
  if (guarded !== undefined) refuse(db, environmentId)
}

/** For what concerns a workspace with everything in it. @throws AppError forbidden where one of its environments is protected. */
export function requireRightInWorkspace(db: Database, viewer: Viewer): void {
  const query = db.query<{ id: string }, [string]>(
    "SELECT id FROM environments WHERE workspace_id = ? AND protected_status = 'protected' LIMIT 1",
  )
  requireProtectedRight(db, viewer, query.get(viewer.workspaceId)?.id ?? null)
}

/** Whether the caller is told values of variables and contents of secret files of what is in this environment. */
export const seesValues = (db: Database, { permissions }: Pick<Actor, 'permissions'>, environmentId: string | null): boolean =>
  permissions.has('env.read') && (permissions.has('environments.manage_protected') || !isProtected(db, environmentId))

function refuse(db: Database, environmentId: string | null): void {
  const name = protectedNamed(db, environmentId)
  if (name === undefined) return
  throw new AppError(
    'forbidden',
    `The environment ${name} is protected, so this needs the permission environments.manage_protected as well. Ask an administrator for a role that has it.`,
  )
}

/** An environment that is gone, and has left a disk, may have been protected. */
function protectedNamed(db: Database, environmentId: string | null): string | undefined {
  if (environmentId === null) return undefined
  const query = db.query<{ name: string; status: string }, [string]>(
    'SELECT name, protected_status AS status FROM environments WHERE id = ?',
  )
  const { name, status } = query.get(environmentId) ?? { name: `${environmentId}, which was deleted,`, status: 'protected' }
  return status === 'protected' ? name : undefined
}
