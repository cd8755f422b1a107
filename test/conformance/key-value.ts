import type { KeyValue } from '../../shared/key-value.ts'
import type { backupOperations } from '../../shared/operations/backups.ts'
import type { keyValueOperations } from '../../shared/operations/key-value.ts'
import type { redisBackupOperations, redisOperations } from '../../shared/operations/redis.ts'
import { addBackups } from '../support/backups.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { until } from '../support/until.ts'
import type { Prepare, SuccessCase } from './cases.ts'
import type { World } from './world.ts'

let count = 0
const newName = (): string => `store ${++count}`

async function madePath(world: World, under: 'key-value' | 'redis'): Promise<string> {
  const url = `${world.platform.url}/v1/${under}`
  const { body } = await call<{ id: string }>(url, { json: { name: newName() }, token: world.platform.adminToken })
  return `/v1/${under}/${body.id}`
}

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase => ({
  status,
  path,
  options: { method, ...(json === undefined ? {} : { json }) },
})

const changes = { name: 'renamed store', maxmemoryPolicy: 'volatile-ttl', persistenceMode: 'off', ipAllowList: [] }

/** One that a world has, whichever name it is asked for by. */
const known = (under: 'key-value' | 'redis', { keyValueId }: World): string => `/v1/${under}/${keyValueId}`

/** The path of a store that has been backed up, and does not run any more. */
function backedUp({ platform, workspaceId }: World, under: 'key-value' | 'redis' = 'key-value'): string {
  const id = addDatastore(platform, { workspaceId, kind: 'key_value' })
  addBackups(platform, { id, workspaceId, kind: 'key_value' })
  return `/v1/${under}/${id}`
}

const statsOf =
  (under: 'key-value' | 'redis'): Prepare =>
  async (world) => {
    const path = await madePath(world, under)
    const asAdmin = { token: world.platform.adminToken }
    await until(`${path} is available`, async () => (await call<KeyValue>(world.platform.url + path, asAdmin)).body.status === 'available')
    return [{ status: 200, path: `${path}/stats` }]
  }

type BackupCase = Extract<keyof typeof backupOperations, `${string}KeyValue${string}`>

/** Requests for key-value stores, which succeed. */
export const keyValueCases: Record<
  keyof typeof keyValueOperations | keyof typeof redisOperations | keyof typeof redisBackupOperations | BackupCase,
  Prepare
> = {
  listKeyValueBackups: (world) => [{ status: 200, path: `${backedUp(world)}/backups?limit=10` }],
  createKeyValueBackup: (world) => [send('POST', 201, `${backedUp(world)}/backups`)],
  startKeyValueRecovery: (world) => [
    send('POST', 201, `${backedUp(world)}/recovery`),
    send('POST', 201, `${backedUp(world)}/recovery`, { name: newName(), plan: 'free', environmentId: null }),
  ],
  listKeyValue: ({ workspaceId }) => [{ status: 200, path: `/v1/key-value?ownerId=${workspaceId}` }],
  createKeyValue: async (world) => [
    send('POST', 201, '/v1/key-value', { name: newName() }),
    send('POST', 201, '/v1/key-value', {
      name: newName(),
      ownerId: world.workspaceId,
      plan: 'standard',
      region: 'oregon',
      environmentId: await world.makeEnvironment(),
      maxmemoryPolicy: 'allkeys-lru',
      persistenceMode: 'journal-snapshot',
      ipAllowList: [{ cidrBlock: '203.0.113.0/24', description: 'office' }],
    }),
  ],
  getKeyValue: (world) => [{ status: 200, path: known('key-value', world) }],
  updateKeyValue: async (world) => [send('PATCH', 200, await madePath(world, 'key-value'), changes)],
  deleteKeyValue: async (world) => [send('DELETE', 204, await madePath(world, 'key-value'))],
  suspendKeyValue: (world) => [send('POST', 202, `${known('key-value', world)}/suspend`)],
  resumeKeyValue: async (world) => [send('POST', 202, `${await madePath(world, 'key-value')}/resume`)],
  getKeyValueStats: statsOf('key-value'),
  restartKeyValue: (world) => [send('POST', 202, `${backedUp(world)}/restart`)],
  getKeyValueConnectionInfo: (world) => [{ status: 200, path: `${known('key-value', world)}/connection-info` }],
  listKeyValueCredentials: (world) => [{ status: 200, path: `${known('key-value', world)}/credentials` }],
  rotateKeyValueCredentials: (world) => [
    send('POST', 201, `${known('key-value', world)}/credentials`),
    send('POST', 201, `${known('key-value', world)}/credentials`, { formerValidHours: 0 }),
    send('POST', 201, `${known('key-value', world)}/credentials?deploy=true`),
  ],
  listRedis: () => [{ status: 200, path: '/v1/redis?region=oregon,frankfurt' }],
  createRedis: () => [send('POST', 201, '/v1/redis', { name: newName(), maxmemoryPolicy: 'noeviction', ipAllowList: [] })],
  getRedis: (world) => [{ status: 200, path: known('redis', world) }],
  updateRedis: async (world) => [send('PATCH', 200, await madePath(world, 'redis'), { maxmemoryPolicy: 'noeviction' })],
  deleteRedis: async (world) => [send('DELETE', 204, await madePath(world, 'redis'))],
  suspendRedis: (world) => [send('POST', 202, `${known('redis', world)}/suspend`)],
  resumeRedis: async (world) => [send('POST', 202, `${await madePath(world, 'redis')}/resume`)],
  restartRedis: (world) => [send('POST', 202, `${backedUp(world, 'redis')}/restart`)],
  getRedisStats: statsOf('redis'),
  listRedisCredentials: (world) => [{ status: 200, path: `${known('redis', world)}/credentials` }],
  rotateRedisCredentials: (world) => [send('POST', 201, `${known('redis', world)}/credentials`)],
  listRedisBackups: (world) => [{ status: 200, path: `${backedUp(world, 'redis')}/backups?limit=10` }],
  createRedisBackup: (world) => [send('POST', 201, `${backedUp(world, 'redis')}/backups`)],
  startRedisRecovery: (world) => [send('POST', 201, `${backedUp(world, 'redis')}/recovery`)],
  getRedisConnectionInfo: (world) => [{ status: 200, path: `${known('redis', world)}/connection-info` }],
}
