import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { permissionNames } from './permission.ts'
import { OneOf, StrictObject, Time, ToldOneOf, visibleChar } from './schema.ts'

/** Text with at least one character that is no space: roles are named without those around. */
const notBlank = `^${visibleChar}*${visibleChar.replace('[^', '[^\\s')}${visibleChar}*$`

export const RoleName = Type.String({ minLength: 1, maxLength: 64, pattern: `^${visibleChar}*$`, examples: ['developer'] })

export const PermissionEntry = Type.Object({ name: OneOf(permissionNames), description: Type.String() })

export const Role = Type.Object({
  id: Id('role'),
  name: Type.String(),
  description: Type.String(),
  permissions: Type.Array(OneOf(permissionNames)),
  builtIn: Type.Boolean(),
  createdAt: Time,
  updatedAt: Time,
})
export type Role = Static<typeof Role>

const roleFields = {
  name: Type.String({ minLength: 1, maxLength: 64, pattern: notBlank, examples: ['deployer'] }),
  description: Type.String({ maxLength: 500, pattern: `^${visibleChar}*$`, examples: ['Deploys from the pipeline'] }),
  permissions: Type.Array(ToldOneOf(permissionNames), {
    minItems: 1,
    maxItems: 200,
    description: 'Names out of GET /v1/permissions; one that is given twice counts once',
    examples: [['services.read', 'deploys.create']],
  }),
}

export const RoleCreate = StrictObject({
  name: roleFields.name,
  description: Type.Optional(roleFields.description),
  permissions: roleFields.permissions,
})
export type RoleCreate = Static<typeof RoleCreate>

export const RolePatch = StrictObject({
  name: Type.Optional(roleFields.name),
  description: Type.Optional(roleFields.description),
  permissions: Type.Optional(roleFields.permissions),
})
export type RolePatch = Static<typeof RolePatch>
