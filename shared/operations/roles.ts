import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PermissionEntry, Role, RoleCreate, RolePatch } from '../role.ts'
import { PageOf, PageQuery } from '../schema.ts'

const RoleParams = Type.Object({ roleId: Type.String() })

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
    description: 'The roles of the workspace, newest first, and then those that are built in.',
    query: Type.Object(PageQuery),
    responses: { 200: PageOf('role', Role) },
  },
  createRole: {
    method: 'POST',
    path: '/v1/roles',
    access: 'roles.manage',
    tag: 'Roles',
    summary: 'Create a role',
    description: 'Nobody can make a role that holds a permission they lack. Names that differ in letter case only are the same.',
    body: RoleCreate,
    responses: { 201: Role },
    errors: ['conflict'],
    creates: true,
  },
  updateRole: {
    method: 'PATCH',
    path: '/v1/roles/:roleId',
    access: 'roles.manage',
    tag: 'Roles',
    summary: 'Rename a role, or change what it may do',
    description:
      'Takes effect at the next request of everyone who holds it, and on their open WebSockets within 5 seconds. Whoever changes it needs every permission that it held before and is to hold. Built-in roles cannot be changed.',
    params: RoleParams,
    body: RolePatch,
    responses: { 200: Role },
    errors: ['not_found', 'conflict'],
  },
  deleteRole: {
    method: 'DELETE',
    path: '/v1/roles/:roleId',
    access: 'roles.manage',
    tag: 'Roles',
    summary: 'Delete a role that nobody holds',
    params: RoleParams,
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
})
