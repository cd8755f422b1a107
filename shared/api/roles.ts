import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PermissionEntry, Role } from '../role.ts'
import { PageOf, PageQuery } from '../schema.ts'

/** Roles: sets of permissions with a name. */
export const roleOperations = defineOperations({
  listPermissions: {
    method: 'GET',
    path: '/v1/permissions',
    access: 'roles.read',
    tag: 'Roles',
    summary: 'The closed list of permissions',
    responses: { 200: Type.Array(PermissionEntry) },
  },
  listRoles: {
    method: 'GET',
    path: '/v1/roles',
    access: 'roles.read',
    tag: 'Roles',
    summary: 'List roles with the permissions they hold',
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('role', Role) },
  },
})
