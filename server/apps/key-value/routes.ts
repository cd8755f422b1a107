import type { Static } from '@sinclair/typebox'
import type { GroupChangeQuery } from '../../../shared/env-group.ts'
import type { KeyValue, KeyValueCreate, KeyValuePatch, KeyValueQuery, KeyValueRotation } from '../../../shared/key-value.ts'
import type { keyValueOperations } from '../../../shared/operations/key-value.ts'
import type { redisOperations } from '../../../shared/operations/redis.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { type Actor, answer, type Handlers } from '../../http/handlers/call.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { deleteDatastore, restartDatastore, resumeDatastore, suspendDatastore } from '../datastores/operations.ts'
import { requireDatastore } from '../datastores/require.ts'
import { listDatastores, type StoredDatastore } from '../datastores/store.ts'
import { isDeployed } from '../env-groups/deploy-right.ts'
import { touchedByDatastore } from '../env-groups/referring.ts'
import { changeStore, createStore, rotate } from './operations.ts'
import { presentCredentials } from './passwords.ts'
import { presentConnection, presentKeyValue } from './present.ts'
import { readStats } from './stats.ts'

interface Asked {
  actor: Actor
  params: { keyValueId: string }
}

const found = (context: AppContext, actor: Viewer, query: Static<typeof KeyValueQuery>): KeyValue[] =>
  listDatastores(context.db, actor, { ...query, ...idPageOf(query), kind: 'key_value' }).map((one) => presentKeyValue(context, one))

const asked = (context: AppContext, { actor, params }: Asked): StoredDatastore =>
  requireDatastore(context, actor, params.keyValueId, 'key_value')

const create = ({ actor, body }: { actor: Actor; body: KeyValueCreate }, context: AppContext) =>
  presentKeyValue(context, createStore(context, actor, body))

const get = (call: Asked, context: AppContext) => presentKeyValue(context, asked(context, call))

const update = (call: Asked & { body: KeyValuePatch }, context: AppContext) =>
  presentKeyValue(context, changeStore(context, call.actor, { datastore: asked(context, call), patch: call.body }))

const acting = (act: (context: AppContext, datastore: StoredDatastore) => void) => (call: Asked, context: AppContext) => {
  act(context, asked(context, call))
  return undefined
}

function remove(call: Asked & { query: { force?: boolean } }, context: AppContext): undefined {
  deleteDatastore(context, asked(context, call), { isForced: call.query.force === true })
}

const restart = acting(restartDatastore)

const stats = (call: Asked, context: AppContext) => readStats(context, asked(context, call))

const credentials = (call: Asked, context: AppContext) => presentCredentials(context, asked(context, call).id)

function newCredential(
  call: Asked & { query: Static<typeof GroupChangeQuery>; body: Static<typeof KeyValueRotation> | undefined },
  context: AppContext,
) {
  const deploys = { isDeployed: isDeployed(call.actor, call.query) }
  const datastore = asked(context, call)
  rotate(context, datastore, call.body?.formerValidHours)
  const touched = touchedByDatastore(context, datastore, deploys)
  return answer(201, { credentials: presentCredentials(context, datastore.id), touched })
}

export const keyValueRoutes: Handlers<keyof typeof keyValueOperations, AppContext> = {
  listKeyValue: ({ actor, query }, context) => pageOf('keyValue', found(context, actor, query), ({ id }) => [id]),
  createKeyValue: create,
  getKeyValue: get,
  updateKeyValue: update,
  deleteKeyValue: remove,
  suspendKeyValue: acting(suspendDatastore),
  resumeKeyValue: acting(resumeDatastore),
  restartKeyValue: restart,
  getKeyValueStats: stats,
  getKeyValueConnectionInfo: (call, context) => presentConnection(context, asked(context, call)),
  listKeyValueCredentials: credentials,
  rotateKeyValueCredentials: newCredential,
}

/** The old name of them, under which clients of Render's API know them as well. */
export const redisRoutes: Handlers<keyof typeof redisOperations, AppContext> = {
  listRedis: ({ actor, query }, context) => pageOf('redis', found(context, actor, query), ({ id }) => [id]),
  createRedis: create,
  getRedis: get,
  updateRedis: update,
  deleteRedis: remove,
  suspendRedis: acting(suspendDatastore),
  resumeRedis: acting(resumeDatastore),
  restartRedis: restart,
  getRedisStats: stats,
  listRedisCredentials: credentials,
  rotateRedisCredentials: newCredential,
  getRedisConnectionInfo(call, context) {
    const { cliCommand: redisCLICommand, ...strings } = presentConnection(context, asked(context, call))
    return { ...strings, redisCLICommand }
  },
}
