import { KeyValue, RedisConnectionInfo } from '../key-value.ts'
import { defineOperations } from '../operation.ts'
import { PageOf } from '../schema.ts'
import { backupOperations } from './backups.ts'
import { keyValueOperations } from './key-value.ts'

const stores = keyValueOperations
const backups = backupOperations

/** Key-value stores under their old name, which clients of Render's API know them by as well. */
export const redisOperations = defineOperations({
  listRedis: {
    ...stores.listKeyValue,
    path: '/v1/redis',
    summary: 'List key-value stores under their old name',
    responses: { 200: PageOf('redis', KeyValue) },
  },
  createRedis: { ...stores.createKeyValue, path: '/v1/redis', summary: 'Create a key-value store under its old name' },
  getRedis: { ...stores.getKeyValue, path: '/v1/redis/:keyValueId', summary: 'One key-value store under its old name' },
  updateRedis: { ...stores.updateKeyValue, path: '/v1/redis/:keyValueId', summary: 'Change a key-value store under its old name' },
  deleteRedis: { ...stores.deleteKeyValue, path: '/v1/redis/:keyValueId', summary: 'Delete a key-value store under its old name' },
  suspendRedis: {
    ...stores.suspendKeyValue,
    path: '/v1/redis/:keyValueId/suspend',
    summary: 'Suspend a key-value store under its old name',
  },
  resumeRedis: {
    ...stores.resumeKeyValue,
    path: '/v1/redis/:keyValueId/resume',
    summary: 'Resume a key-value store under its old name',
  },
  restartRedis: {
    ...stores.restartKeyValue,
    path: '/v1/redis/:keyValueId/restart',
    summary: 'Restart a key-value store under its old name',
  },
  getRedisStats: {
    ...stores.getKeyValueStats,
    path: '/v1/redis/:keyValueId/stats',
    summary: 'What a key-value store does now, under its old name',
  },
  getRedisConnectionInfo: {
    ...stores.getKeyValueConnectionInfo,
    path: '/v1/redis/:keyValueId/connection-info',
    summary: 'How a key-value store is connected to, under its old name',
    responses: { 200: RedisConnectionInfo },
  },
  listRedisCredentials: {
    ...stores.listKeyValueCredentials,
    path: '/v1/redis/:keyValueId/credentials',
    summary: 'List the passwords of a key-value store under its old name',
  },
  rotateRedisCredentials: {
    ...stores.rotateKeyValueCredentials,
    path: '/v1/redis/:keyValueId/credentials',
    summary: 'Give a key-value store another password, under its old name',
  },
})

/** Backups of key-value stores under their old name. */
export const redisBackupOperations = defineOperations({
  listRedisBackups: {
    ...backups.listKeyValueBackups,
    path: '/v1/redis/:keyValueId/backups',
    summary: 'List backups of a key-value store under its old name',
  },
  createRedisBackup: {
    ...backups.createKeyValueBackup,
    path: '/v1/redis/:keyValueId/backups',
    summary: 'Take a backup of a key-value store under its old name',
  },
  startRedisRecovery: {
    ...backups.startKeyValueRecovery,
    path: '/v1/redis/:keyValueId/recovery',
    summary: 'Make a new key-value store of what a backup holds, under its old name',
  },
})
