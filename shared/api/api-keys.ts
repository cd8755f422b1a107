import { Type } from '@sinclair/typebox'
import { ApiKey, ApiKeyCreate, ApiKeyCreated } from '../api-key.ts'
import { defineOperations } from '../operation.ts'

/** Keys of programs. */
export const apiKeyOperations = defineOperations({
  createApiKey: {
    method: 'POST',
    path: '/v1/api-keys',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'The secret is in this answer and never shown again. Without `role` the key is a `developer`, or has the role of the caller where that holds fewer permissions. Nobody can make a key that may do more than they may.',
    body: ApiKeyCreate,
    responses: { 201: ApiKeyCreated },
    creates: true,
  },
  listApiKeys: {
    method: 'GET',
    path: '/v1/api-keys',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'List the API keys of the workspace',
    responses: { 200: Type.Array(ApiKey) },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/v1/api-keys/:keyId',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: 'The key is dead at once; WebSockets opened with it are closed within 5 seconds.',
    params: Type.Object({ keyId: Type.String() }),
    responses: { 204: null },
    errors: ['not_found'],
  },
})
