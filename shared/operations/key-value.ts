import { Type } from '@sinclair/typebox'
import { ForceDeletion } from '../datastore.ts'
import { GroupChangeQuery } from '../env-group.ts'
import {
  KeyValue,
  KeyValueConnectionInfo,
  KeyValueCreate,
  KeyValueCredential,
  KeyValuePatch,
  KeyValueQuery,
  KeyValueRotated,
  KeyValueRotation,
  KeyValueStats,
  RedisConnectionInfo,
} from '../key-value.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'

const params = Type.Object({ keyValueId: Type.String({ description: 'Id of the key-value store' }) })

const list = { method: 'GET', access: 'datastores.read', tag: 'Key value', query: KeyValueQuery } as const

const create = {
  method: 'POST',
  access: 'datastores.create',
  tag: 'Key value',
  body: KeyValueCreate,
  responses: { 201: KeyValue },
  errors: ['not_found', 'conflict', 'not_configured', 'unavailable'],
  creates: true,
} as const

const get = {
  method: 'GET',
  access: 'datastores.read',
  tag: 'Key value',
  params,
  responses: { 200: KeyValue },
  errors: ['not_found'],
} as const

const update = {
  method: 'PATCH',
  access: 'datastores.update',
  inProtected: 'depends',
  tag: 'Key value',
  description: 'Another plan restarts it, which takes a moment; all else is in force at once.',
  params,
  body: KeyValuePatch,
  responses: { 200: KeyValue },
  errors: ['not_found', 'conflict'],
} as const

const remove = {
  method: 'DELETE',
  access: 'datastores.delete',
  inProtected: 'refused',
  tag: 'Key value',
  params,
  query: ForceDeletion,
  responses: { 204: null },
  errors: ['not_found', 'conflict'],
} as const

const suspend = {
  method: 'POST',
  access: 'datastores.update',
  inProtected: 'refused',
  tag: 'Key value',
  description: 'What it holds is kept, unless it persists nothing.',
  params,
  responses: { 202: null },
  errors: ['not_found', 'conflict'],
} as const

const resume = {
  method: 'POST',
  access: 'datastores.update',
  tag: 'Key value',
  params,
  responses: { 202: null },
  errors: ['not_found', 'conflict'],
} as const

const connectionInfo = {
  method: 'GET',
  access: 'datastores.credentials',
  inProtected: 'refused',
  tag: 'Key value',
  description: 'Answers from the moment of creation on.',
  params,
  errors: ['not_found'],
} as const

/** Key-value stores, under both names that clients of Render's API know them by. */
export const keyValueOperations = defineOperations({
  listKeyValue: { ...list, path: '/v1/key-value', summary: 'List key-value stores', responses: { 200: PageOf('keyValue', KeyValue) } },
  createKeyValue: { ...create, path: '/v1/key-value', summary: 'Create a key-value store' },
  getKeyValue: { ...get, path: '/v1/key-value/:keyValueId', summary: 'One key-value store' },
  updateKeyValue: { ...update, path: '/v1/key-value/:keyValueId', summary: 'Change a key-value store' },
  deleteKeyValue: { ...remove, path: '/v1/key-value/:keyValueId', summary: 'Delete a key-value store with everything in it' },
  suspendKeyValue: { ...suspend, path: '/v1/key-value/:keyValueId/suspend', summary: 'Suspend a key-value store' },
  resumeKeyValue: { ...resume, path: '/v1/key-value/:keyValueId/resume', summary: 'Resume a key-value store' },
  restartKeyValue: {
    method: 'POST',
    path: '/v1/key-value/:keyValueId/restart',
    access: 'datastores.update',
    tag: 'Key value',
    summary: 'Restart a key-value store, with the newest program that this server has',
    description: 'What it persists is kept; connections end.',
    params,
    responses: { 202: null },
    errors: ['not_found', 'conflict'],
  },
  getKeyValueStats: {
    method: 'GET',
    path: '/v1/key-value/:keyValueId/stats',
    access: 'datastores.read',
    tag: 'Key value',
    summary: 'What a key-value store does now',
    description: 'Asked of its server, which has to run. GET /v1/services/{id}/metrics/history tells how it was.',
    params,
    responses: { 200: KeyValueStats },
    errors: ['not_found', 'conflict', 'unavailable'],
  },
  getKeyValueConnectionInfo: {
    ...connectionInfo,
    path: '/v1/key-value/:keyValueId/connection-info',
    summary: 'How a key-value store is connected to, with its password',
    responses: { 200: KeyValueConnectionInfo },
  },
  listKeyValueCredentials: {
    method: 'GET',
    path: '/v1/key-value/:keyValueId/credentials',
    access: 'datastores.credentials',
    tag: 'Key value',
    summary: 'List the passwords of a key-value store that are good now, without the passwords',
    params,
    responses: { 200: Type.Array(KeyValueCredential) },
    errors: ['not_found'],
  },
  rotateKeyValueCredentials: {
    method: 'POST',
    path: '/v1/key-value/:keyValueId/credentials',
    access: 'datastores.credentials',
    inProtected: 'refused',
    tag: 'Key value',
    summary: 'Give a key-value store another password',
    description:
      'The one until now is good as well for a while, so that those who have it can be given the other. Only one former password is.',
    params,
    query: GroupChangeQuery,
    body: KeyValueRotation,
    bodyOptional: true,
    responses: { 201: KeyValueRotated },
    errors: ['not_found', 'conflict'],
  },
  listRedis: {
    ...list,
    path: '/v1/redis',
    summary: 'List key-value stores under their old name',
    responses: { 200: PageOf('redis', KeyValue) },
  },
  createRedis: { ...create, path: '/v1/redis', summary: 'Create a key-value store under its old name' },
  getRedis: { ...get, path: '/v1/redis/:keyValueId', summary: 'One key-value store under its old name' },
  updateRedis: { ...update, path: '/v1/redis/:keyValueId', summary: 'Change a key-value store under its old name' },
  deleteRedis: { ...remove, path: '/v1/redis/:keyValueId', summary: 'Delete a key-value store under its old name' },
  suspendRedis: { ...suspend, path: '/v1/redis/:keyValueId/suspend', summary: 'Suspend a key-value store under its old name' },
  resumeRedis: { ...resume, path: '/v1/redis/:keyValueId/resume', summary: 'Resume a key-value store under its old name' },
  getRedisConnectionInfo: {
    ...connectionInfo,
    path: '/v1/redis/:keyValueId/connection-info',
    summary: 'How a key-value store is connected to, under its old name',
    responses: { 200: RedisConnectionInfo },
  },
})
