import { Type } from '@sinclair/typebox'
import { EnvKey, EnvValueInput, EnvVarsBody, SecretFileName } from '../env.ts'
import { EnvGroup, EnvGroupCreate, EnvGroupPatch, EnvGroupQuery, GroupChangeQuery, GroupDeleteQuery, GroupFileInput } from '../env-group.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const envGroupId = Type.String({ description: 'Id of the group' })
const GroupParams = Type.Object({ envGroupId })
const KeyParams = Type.Object({ envGroupId, key: EnvKey })
const FileParams = Type.Object({ envGroupId, fileName: SecretFileName })
const LinkParams = Type.Object({ envGroupId, serviceId: Type.String({ description: 'Id of the service' }) })

const creation = { access: 'env.write', tag: 'Env groups', query: GroupChangeQuery } as const
const change = { ...creation, inProtected: 'hidden' } as const

const removal = {
  ...creation,
  description: 'Answers with the group when the query says `deploy`, be it `false`.',
  responses: { 204: null, 200: EnvGroup },
  errors: ['not_found'],
} as const

/** Variables and secret files that several services share. A change takes effect with the next deploy of each, which `deploy=true` makes. */
export const envGroupOperations = defineOperations({
  listEnvGroups: {
    method: 'GET',
    path: '/v1/env-groups',
    access: 'services.read',
    tag: 'Env groups',
    summary: 'List env groups, newest first',
    description: 'Values are shown to holders of `env.read`; contents of secret files only by the group itself.',
    query: EnvGroupQuery,
    responses: { 200: PageOf('envGroup', EnvGroup) },
  },
  createEnvGroup: {
    ...creation,
    method: 'POST',
    path: '/v1/env-groups',
    summary: 'Make an env group',
    body: EnvGroupCreate,
    responses: { 201: EnvGroup },
    errors: ['not_found', 'conflict'],
    creates: true,
  },
  getEnvGroup: {
    method: 'GET',
    path: '/v1/env-groups/:envGroupId',
    access: 'services.read',
    inProtected: 'hidden',
    tag: 'Env groups',
    summary: 'One env group',
    params: GroupParams,
    responses: { 200: EnvGroup },
    errors: ['not_found'],
  },
  updateEnvGroup: {
    method: 'PATCH',
    path: '/v1/env-groups/:envGroupId',
    access: 'env.write',
    inProtected: 'hidden',
    tag: 'Env groups',
    summary: 'Rename an env group',
    params: GroupParams,
    body: EnvGroupPatch,
    responses: { 200: EnvGroup },
    errors: ['not_found', 'conflict'],
  },
  deleteEnvGroup: {
    ...removal,
    inProtected: 'refused',
    method: 'DELETE',
    path: '/v1/env-groups/:envGroupId',
    summary: 'Delete an env group',
    description: 'One that services are linked to is deleted with `force=true` only. Answers with it when the query says `deploy`.',
    params: GroupParams,
    query: GroupDeleteQuery,
    errors: ['not_found', 'conflict'],
  },
  replaceGroupEnvVars: {
    ...change,
    method: 'PUT',
    path: '/v1/env-groups/:envGroupId/env-vars',
    summary: 'Replace all variables of an env group',
    params: GroupParams,
    body: EnvVarsBody,
    responses: { 200: EnvGroup },
    errors: ['not_found'],
  },
  setGroupEnvVar: {
    ...change,
    method: 'PUT',
    path: '/v1/env-groups/:envGroupId/env-vars/:key',
    summary: 'Add or change one variable of an env group',
    params: KeyParams,
    body: EnvValueInput,
    responses: { 200: EnvGroup },
    errors: ['not_found'],
  },
  deleteGroupEnvVar: {
    ...removal,
    method: 'DELETE',
    path: '/v1/env-groups/:envGroupId/env-vars/:key',
    summary: 'Remove one variable of an env group',
    params: KeyParams,
  },
  setGroupSecretFile: {
    ...change,
    method: 'PUT',
    path: '/v1/env-groups/:envGroupId/secret-files/:fileName',
    summary: 'Add or change one secret file of an env group',
    params: FileParams,
    body: GroupFileInput,
    responses: { 200: EnvGroup },
    errors: ['not_found'],
  },
  deleteGroupSecretFile: {
    ...removal,
    method: 'DELETE',
    path: '/v1/env-groups/:envGroupId/secret-files/:fileName',
    summary: 'Remove one secret file of an env group',
    params: FileParams,
  },
  linkEnvGroup: {
    ...change,
    method: 'POST',
    path: '/v1/env-groups/:envGroupId/services/:serviceId',
    summary: 'Link a service to an env group',
    description: 'Its values win over those of groups that were linked before. One that is linked keeps its place.',
    params: LinkParams,
    responses: { 200: EnvGroup },
    errors: ['not_found', 'conflict'],
  },
  unlinkEnvGroup: {
    ...removal,
    inProtected: 'refused',
    method: 'DELETE',
    path: '/v1/env-groups/:envGroupId/services/:serviceId',
    summary: 'Take an env group from a service',
    params: LinkParams,
  },
})
