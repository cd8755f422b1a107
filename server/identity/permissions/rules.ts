import { createHash } from 'node:crypto'
import { idAlphabet, idPrefix } from '../../../shared/id.ts'
import { skeletonOf } from '../../../shared/look-alike.ts'
import { type BuiltInRole, builtInRoles, holdsAll, type Permission } from '../../../shared/permission.ts'
import type { Role } from '../../../shared/role.ts'
import { memo } from '../../platform/memo.ts'

const REMEMBERED_KEYS = 2000

/** Soft hyphens, fillers and the like, of which nobody sees anything. */
const unseen = /\p{Default_Ignorable_Code_Point}/gu

/** Cases, forms of a letter that look the same, what nobody sees, and widths of a space are one. */
export const roleKey = memo(
  (name: string): string => name.normalize('NFKC').replace(unseen, '').toUpperCase().replace(/\s+/g, ' ').trim(),
  REMEMBERED_KEYS,
)

interface NamedSet {
  name: string
  permissions: ReadonlySet<Permission>
}

const builtIn = Object.entries(builtInRoles).map(([name, { permissions }]): NamedSet => ({ name, permissions: new Set(permissions) }))
const builtInByName = new Map(builtIn.flatMap((role) => [[role.name, role] as const, [roleKey(role.name), role] as const]))

export const builtInRole = (name: string): NamedSet | undefined => builtInByName.get(name) ?? builtInByName.get(roleKey(name))

/** The built-in role that a person would take this name for: members are judged by the name of their role in every list. */
export const builtInLookAlike = (name: string): NamedSet | undefined =>
  builtIn.find((role) => skeletonOf(roleKey(name).toLowerCase()) === skeletonOf(role.name))

export function defaultKeyRole(own: { role: string; permissions: ReadonlySet<Permission> }): string {
  return holdsAll(own.permissions, builtInRoles.developer.permissions) ? 'developer' : own.role
}

const BUILT_IN_SINCE = '2026-01-01T00:00:00.000Z'

export const listBuiltInRoles = (): Role[] =>
  (Object.keys(builtInRoles) as BuiltInRole[]).map((name) => ({
    id: builtInRoleId(name),
    name,
    description: builtInRoles[name].description,
    permissions: [...builtInRoles[name].permissions],
    builtIn: true,
    createdAt: BUILT_IN_SINCE,
    updatedAt: BUILT_IN_SINCE,
  }))

export const isBuiltInRoleId = (id: string): boolean =>
  (Object.keys(builtInRoles) as BuiltInRole[]).some((name) => builtInRoleId(name) === id)

const ID_LETTERS = 20

/** The id is made of the hash of the name, so that it is the same everywhere. */
function builtInRoleId(name: string): string {
  const bytes = createHash('sha256').update(`built-in role ${name}`).digest().subarray(0, ID_LETTERS)
  return `${idPrefix.role}-${Array.from(bytes, (byte) => idAlphabet.charAt(byte & 31)).join('')}`
}
