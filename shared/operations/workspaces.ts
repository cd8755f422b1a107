import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'
import { Quota, QuotaPatch } from '../quota.ts'
import { Many, PageOf, PageQuery } from '../schema.ts'
import { Owner, WorkspaceCreate, WorkspaceDetails, WorkspacePatch } from '../workspace.ts'

const WorkspaceParams = Type.Object({ ownerId: Type.String({ description: 'Id of the workspace' }) })

export const workspaceOperations = defineOperations({
  listOwners: {
    method: 'GET',
    path: '/v1/owners',
    access: 'authenticated',
    tag: 'Workspaces',
    summary: 'Workspaces of the caller',
    query: Type.Object({ ...PageQuery, name: Many(Type.String({ maxLength: 200 })), email: Many(Type.String({ maxLength: 254 })) }),
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
  createWorkspace: {
    method: 'POST',
    path: '/v1/workspaces',
    access: 'workspaces.create',
    tag: 'Workspaces',
    summary: 'Create a workspace',
    description: 'The calling user is its administrator; for the static token that is the administrator seeded at the first start.',
    body: WorkspaceCreate,
    responses: { 201: WorkspaceDetails },
    errors: ['conflict'],
    creates: true,
  },
  getWorkspace: {
    method: 'GET',
    path: '/v1/workspaces/:ownerId',
    access: 'workspace.read',
    tag: 'Workspaces',
    summary: 'One workspace with its rules',
    params: WorkspaceParams,
    responses: { 200: WorkspaceDetails },
    errors: ['not_found'],
  },
  updateWorkspace: {
    method: 'PATCH',
    path: '/v1/workspaces/:ownerId',
    access: 'workspace.manage',
    tag: 'Workspaces',
    summary: 'Rename a workspace, or change its rules',
    description: 'Who requires a second factor of others has one: a user who has none cannot switch the rule on.',
    params: WorkspaceParams,
    body: WorkspacePatch,
    responses: { 200: WorkspaceDetails },
    errors: ['not_found', 'conflict'],
  },
  listQuotas: {
    method: 'GET',
    path: '/v1/workspaces/:ownerId/quotas',
    access: 'workspace.read',
    tag: 'Workspaces',
    summary: 'What a workspace may have, and what it has',
    params: WorkspaceParams,
    responses: { 200: Type.Array(Quota) },
    errors: ['not_found'],
  },
  setQuotas: {
    method: 'PATCH',
    path: '/v1/quotas/:workspaceId',
    access: 'workspace.manage',
    tag: 'Workspaces',
    summary: 'Set what a workspace may have',
    description:
      'For the operator: whoever has the permission in the workspace of the first start, for any workspace. What a workspace has beyond a lowered limit stays.',
    params: Type.Object({ workspaceId: Type.String({ description: 'Id of any workspace of this server' }) }),
    body: QuotaPatch,
    responses: { 200: Type.Array(Quota) },
    errors: ['not_found'],
  },
  deleteWorkspace: {
    method: 'DELETE',
    path: '/v1/workspaces/:ownerId',
    access: 'workspace.manage',
    inProtected: 'depends',
    tag: 'Workspaces',
    summary: 'Delete a workspace with everything in it',
    description:
      'Nobody enters it from now on. Its services, disks with their snapshots, domains, logs, keys, invites and roles go at once and cannot be brought back. `confirm` is the name of the workspace. One with a protected environment needs `environments.manage_protected` as well. The workspace of the first start stays.',
    params: WorkspaceParams,
    query: Type.Object({
      confirm: Type.Optional(Type.String({ maxLength: 100, description: 'The name of the workspace, to show that it is meant' })),
    }),
    responses: { 204: null },
    errors: ['not_found', 'conflict'],
  },
})
