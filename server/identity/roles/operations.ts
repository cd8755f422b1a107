import { AppError, invalidValue } from '../../../shared/error.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { RoleCreate, RolePatch } from '../../../shared/role.ts'
import type { Actor } from '../../http/handlers/call.ts'
import { newId } from '../../platform/id.ts'
import { revokeKeysBeyond } from '../api-keys/reach.ts'
import type { StoredKey } from '../api-keys/store.ts'
import type { IdentityContext } from '../context.ts'
import { refuseEscalation } from '../permissions/grant.ts'
import { countRoles, deleteRole, findRole, findRoleByName, insertRole, type StoredRole, updateRole } from '../permissions/role-store.ts'
import { builtInLookAlike, builtInRole, isBuiltInRoleId, roleKey } from '../permissions/rules.ts'
import { holdersOf, usersOf } from './holders.ts'

type RoleContext = Pick<IdentityContext, 'db' | 'now'>

const MAX_ROLES = 1000

/** @throws AppError `forbidden` for permissions that the maker lacks, `conflict` for a name that is taken. */
export function createRole({ db, now }: RoleContext, maker: Actor, { name, description = '', permissions }: RoleCreate): StoredRole {
  const createdAt = now()
  const { workspaceId } = maker
  const role = { ...named(name), id: newId('role', createdAt), workspaceId, description, permissions: new Set(permissions) }
  refuseEscalation(maker, role)
  const made = { ...role, createdAt, updatedAt: createdAt }
  db.transaction(() => {
    refuseTakenName(db, made)
    if (countRoles(db, workspaceId) >= MAX_ROLES)
      throw new AppError('conflict', `This workspace has ${MAX_ROLES} roles, the most there can be. Delete one first.`)
    insertRole(db, made)
  })()
  return made
}

export interface ChangedRole {
  role: StoredRole
  revokedKeys: readonly StoredKey[]
}

/** Keys that then go beyond their makers are revoked. @throws AppError `not_found`, `forbidden`, or `conflict` for a taken name. */
export function changeRole({ db, now }: RoleContext, editor: Actor, { id, patch }: { id: string; patch: RolePatch }): ChangedRole {
  const change = db.transaction(() => {
    const before = requireOwnRole(db, editor, id)
    const role: StoredRole = {
      ...before,
      ...(patch.name !== undefined && named(patch.name)),
      ...(patch.description !== undefined && { description: patch.description }),
      ...(patch.permissions !== undefined && { permissions: new Set<Permission>(patch.permissions) }),
      updatedAt: now(),
    }
    refuseEscalation(editor, before)
    refuseEscalation(editor, role)
    refuseTakenName(db, role)
    updateRole(db, role, before.name)
    const revokedKeys = usersOf(db, role).flatMap((userId) => revokeKeysBeyond(db, role.workspaceId, userId))
    return { role, revokedKeys }
  })
  return change()
}

/** @throws AppError `not_found`, `forbidden` for a built-in role and beyond the editor's right, `conflict` naming who holds it. */
export function removeRole({ db, now }: RoleContext, editor: Actor, id: string): void {
  db.transaction(() => {
    const role = requireOwnRole(db, editor, id)
    refuseEscalation(editor, role)
    const holders = holdersOf(db, role, now())
    if (holders !== undefined)
      throw new AppError('conflict', `The role "${role.name}" is held by ${holders}. Give them another role, or remove them, first.`)
    deleteRole(db, id)
  })()
}

function requireOwnRole(db: IdentityContext['db'], { workspaceId }: Actor, id: string): StoredRole {
  const role = findRole(db, workspaceId, id)
  if (role !== undefined) return role
  if (isBuiltInRoleId(id))
    throw new AppError(
      'forbidden',
      'Built-in roles cannot be changed or deleted. Create a role of your own instead, with the permissions it is to have.',
    )
  throw new AppError('not_found', `There is no role ${id} in this workspace. GET /v1/roles lists those there are.`)
}

function named(name: string): { name: string } {
  const trimmed = name.trim()
  if (roleKey(trimmed) === '') throw invalidValue('/name', 'The name must have a character that can be seen.')
  return { name: trimmed }
}

function refuseTakenName(db: IdentityContext['db'], { id, workspaceId, name }: StoredRole): void {
  const known = builtInRole(name) ?? builtInLookAlike(name)
  if (known !== undefined) throw new AppError('conflict', `"${name}" reads like the built-in role ${known.name}. Choose another.`)
  const holder = findRoleByName(db, workspaceId, name)
  if (holder !== undefined && holder.id !== id)
    throw new AppError(
      'conflict',
      `There is a role "${holder.name}" already: names that differ in letter case only are the same. Choose another.`,
    )
}
