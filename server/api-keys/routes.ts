import type { Operations } from '../../shared/api.ts'
import { AppError } from '../../shared/error.ts'
import type { Context } from '../context.ts'
import type { Handlers } from '../http/call.ts'
import { createKey, presentKey } from './create.ts'
import { deleteKey, listKeys } from './store.ts'

type ApiKeyIds = Extract<keyof Operations, 'createApiKey' | 'listApiKeys' | 'revokeApiKey'>

export const apiKeyRoutes: Handlers<ApiKeyIds, Context> = {
  createApiKey: ({ actor, body }, { db, now }) => createKey(db, actor, body, now()),
  listApiKeys: ({ actor }, { db }) => listKeys(db, actor.workspaceId).map(presentKey),
  revokeApiKey({ actor, params }, { db }) {
    if (!deleteKey(db, actor.workspaceId, params.keyId))
      throw new AppError('not_found', 'There is no API key with this id. GET /v1/api-keys lists those there are.')
  },
}
