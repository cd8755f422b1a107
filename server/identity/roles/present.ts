import { permissionNames } from '../../../shared/permission.ts'
import type { Role } from '../../../shared/role.ts'
import type { StoredRole } from '../permissions/role-store.ts'

export const presentRole = ({ id, name, description, permissions, createdAt, updatedAt }: StoredRole): Role => ({
  id,
  name,
  description,
  permissions: permissionNames.filter((permission) => permissions.has(permission)),
  builtIn: false,
  createdAt: new Date(createdAt).toISOString(),
  updatedAt: new Date(updatedAt).toISOString(),
})
