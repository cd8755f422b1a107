import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { permissionNames } from './permission.ts'
import { OneOf } from './schema.ts'

export const RoleName = Type.String({ minLength: 1, maxLength: 64, examples: ['developer'] })

export const PermissionEntry = Type.Object({ name: OneOf(permissionNames), description: Type.String() })

export const Role = Type.Object({
  id: Id('role'),
  name: Type.String(),
  description: Type.String(),
  permissions: Type.Array(OneOf(permissionNames)),
  builtIn: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
export type Role = Static<typeof Role>
