import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { createKey } from './create.ts'
import { presentKey, presentKeyDetails } from './present.ts'
import { deleteKey, findKey, listKeys } from './store.ts'

type ApiKeyIds = Extract<keyof Operations, 'createApiKey' | 'listApiKeys' | 'getApiKey' | 'revokeApiKey'>

export const apiKeyRoutes: Handlers<ApiKeyIds, IdentityContext> = {
  createApiKey({ actor, body }, context) {
    const { key, secret } = createKey(context, actor, body)
    return { ...presentKey(key), secret }
  },
  listApiKeys: ({ actor }, { db }) => listKeys(db, actor.workspaceId).map(presentKey),
  getApiKey({ actor, params }, { db }) {
    const key = findKey(db, actor.workspaceId, params.keyId)
    if (key === undefined) throw noSuchKey()
    return presentKeyDetails(key)
  },
  revokeApiKey({ actor, params }, { db }) {
    if (!deleteKey(db, actor.workspaceId, params.keyId)) throw noSuchKey()
  },
}

const noSuchKey = (): AppError => new AppError('not_found', 'There is no API key with this id. GET /v1/api-keys lists those there are.')
