/** Members, keys and invites hold roles by name, looked up with each request: a change takes effect at the next one. */
import type { Database } from 'bun:sqlite'
import { AppError } from '../../../shared/error.ts'
import { holdsAll, type Permission } from '../../../shared/permission.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { findRoleByName } from './role-store.ts'
import { builtInRole } from './rules.ts'

export interface GrantedRole {
  name: string
  permissions: ReadonlySet<Permission>
}

const none: ReadonlySet<Permission> = new Set()

export const permissionsIn = (db: Database, workspaceId: string, role: string): ReadonlySet<Permission> =>
  findGranted(db, workspaceId, role)?.permissions ?? none

/** @throws AppError `validation_failed` at /role when there is none of this name, in any letter case. */
export function requireRole(db: Database, workspaceId: string, name: string): GrantedRole {
  const role = findGranted(db, workspaceId, name)
  if (role !== undefined) return role
  throw new AppError('validation_failed', `There is no role "${name}". GET /v1/roles lists those there are.`, {
    details: [{ path: '/role', message: 'is not the name of a role' }],
  })
}

/** Nobody hands out, changes or takes away what they lack: ask before a change and after it. @throws AppError `forbidden`. */
export function refuseEscalation(granter: Pick<Actor, 'role' | 'permissions' | 'scope'>, role: GrantedRole): void {
  if (granter.scope !== undefined)
    throw new AppError('forbidden', 'You are confined to some services, so you can hand out no role. Ask an administrator.')
  if (holdsAll(granter.permissions, role.permissions)) return
  const lacking = [...role.permissions].filter((permission) => !granter.permissions.has(permission)).join(', ')
  throw new AppError(
    'forbidden',
    `The role "${role.name}" may do more than your own role "${granter.role}", which lacks ${lacking}. Choose a smaller one, or ask an administrator.`,
  )
}

const findGranted = (db: Database, workspaceId: string, name: string): GrantedRole | undefined =>
  builtInRole(name) ?? findRoleByName(db, workspaceId, name)
