import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { PageOf, PageQuery } from '../schema.ts'
import { Owner } from '../workspace.ts'

/** Workspaces: whose services, keys and people belong together. */
export const workspaceOperations = defineOperations({
  listOwners: {
    method: 'GET',
    path: '/v1/owners',
    access: 'authenticated',
    tag: 'Workspaces',
    summary: 'Workspaces of the caller',
    query: Type.Object({ ...PageQuery, name: Type.Optional(Type.Array(Type.String())), email: Type.Optional(Type.Array(Type.String())) }),
    responses: { 200: PageOf('owner', Owner) },
  },
  getOwner: {
    method: 'GET',
    path: '/v1/owners/:ownerId',
    access: 'workspace.read',
    tag: 'Workspaces',
    summary: 'One workspace',
    params: Type.Object({ ownerId: Type.String() }),
    responses: { 200: Owner },
    errors: ['not_found'],
  },
})
