import { Type } from '@sinclair/typebox'
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyDetails } from '../api-key.ts'
import { defineOperations } from '../operation.ts'

const KeyParams = Type.Object({ keyId: Type.String() })

export const apiKeyOperations = defineOperations({
  createApiKey: {
    method: 'POST',
    path: '/v1/api-keys',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'The secret is in this answer and never shown again. Without `role` the key is a `developer`, or has the role of the caller where that holds fewer permissions. Nobody can make a key that may do more than they may. With `scope` it may touch some services only, and nothing of the workspace as a whole.',
    body: ApiKeyCreate,
    responses: { 201: ApiKeyCreated },
    errors: ['not_found', 'conflict'],
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
  getApiKey: {
    method: 'GET',
    path: '/v1/api-keys/:keyId',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'Get an API key with its scope, end, last use and maker',
    params: KeyParams,
    responses: { 200: ApiKeyDetails },
    errors: ['not_found'],
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/v1/api-keys/:keyId',
    access: 'apikeys.manage',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: 'The key is dead at once; WebSockets opened with it are closed within 5 seconds.',
    params: KeyParams,
    responses: { 204: null },
    errors: ['not_found'],
  },
})
