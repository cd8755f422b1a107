import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import { packApp } from '../support/apps.ts'
import { addBackups } from '../support/backups.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { addMember } from '../support/members.ts'
import { makeDisk } from './disks.ts'
import { expectError } from './expect-error.ts'
import { makeWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.close())

interface Creation {
  path: string
  first: CallOptions
  other: CallOptions
  /** One of its kind that is refused; absent: a body that is no JSON. */
  refused?: { path: string; options: CallOptions }
  /** How many of what it creates there are. */
  count(): Promise<number>
}

const archive = async (version: string): Promise<CallOptions> => ({
  method: 'POST',
  raw: await packApp('hello-js', { VERSION: version }),
  headers: { 'content-type': 'application/gzip' },
})

const countOf = async (path: string): Promise<number> => {
  const { body } = await call<unknown[]>(`${world.platform.url}${path}`, { token: world.platform.adminToken })
  return body.length
}

const rowsIn = (table: 'workspaces' | 'password_resets'): number =>
  world.platform.db.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0

const deploysOf = (serviceId: string) => countOf(`/v1/services/${serviceId}/deploys?limit=100`)

function backedUpStore(): string {
  const id = addDatastore(world.platform, { ...world, kind: 'key_value' })
  addBackups(world.platform, { id, workspaceId: world.workspaceId, kind: 'key_value' })
  return id
}

async function backupOnce(under: 'key-value' | 'redis'): Promise<Creation> {
  const path = `/v1/${under}/${backedUpStore()}/backups`
  const refused = { path: `/v1/${under}/red-00000000000000000000/backups`, options: { method: 'POST' } }
  return { path, first: { method: 'POST' }, other: { json: {} }, refused, count: () => countOf(`${path}?limit=100`) }
}

const recoveryOnce = async (under: 'key-value' | 'redis'): Promise<Creation> => ({
  path: `/v1/${under}/${backedUpStore()}/recovery`,
  first: { json: { name: `once ${crypto.randomUUID()}` } },
  other: { json: { name: 'another' } },
  count: () => countOf(`/v1/${under}?limit=100`),
})

/** Two different requests for every operation that creates. */
const creations: Partial<Record<OperationId, () => Promise<Creation>>> = {
  createApiKey: async () => ({
    path: '/v1/api-keys',
    first: { json: { name: 'once' } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/api-keys'),
  }),
  createWebhook: async () => ({
    path: '/v1/webhooks',
    first: { json: { name: 'once', url: 'https://example.com/hooks' } },
    other: { json: { name: 'twice', url: 'https://example.com/hooks' } },
    count: () => countOf('/v1/webhooks?limit=100'),
  }),
  createRole: async () => ({
    path: '/v1/roles',
    first: { json: { name: `once ${crypto.randomUUID()}`, permissions: ['services.read'] } },
    other: { json: { name: 'twice', permissions: ['services.read'] } },
    count: () => countOf('/v1/roles?limit=100'),
  }),
  createWorkspace: async () => ({
    path: '/v1/workspaces',
    first: { json: { name: 'once' } },
    other: { json: { name: 'twice' } },
    // The token that makes them sees its own only.
    count: async () => rowsIn('workspaces'),
  }),
  createTeamInvite: async () => ({
    path: '/v1/team-invites',
    // An address is invited once, so each time has its own.
    first: { json: { email: `${crypto.randomUUID()}@example.com`, role: 'viewer' } },
    other: { json: { email: 'twice@example.com', role: 'viewer' } },
    count: () => countOf('/v1/team-invites?limit=100'),
  }),
  resetMemberPassword: async () => {
    const { userId } = await addMember(world.platform, world.workspaceId, 'viewer')
    return {
      path: `/v1/team-members/${userId}/password-reset`,
      first: { method: 'POST' },
      // Snapshots take no body either.
      other: { json: {} },
      refused: { path: '/v1/team-members/usr-00000000000000000000/password-reset', options: { method: 'POST' } },
      count: async () => rowsIn('password_resets'),
    }
  },
  createService: async () => ({
    path: '/v1/services',
    first: { json: { type: 'web_service', name: 'once' } },
    other: { json: { type: 'web_service', name: 'twice' } },
    count: () => countOf('/v1/services?limit=100'),
  }),
  createCustomDomain: async () => ({
    path: `/v1/services/${world.serviceId}/custom-domains`,
    // A name is taken once, so each time has its own.
    first: { json: { name: `${crypto.randomUUID()}.example.com` } },
    other: { json: { name: 'twice.example.com' } },
    count: () => countOf(`/v1/services/${world.serviceId}/custom-domains?limit=100`),
  }),
  uploadSource: async () => {
    const serviceId = await world.makeService()
    return {
      path: `/v1/services/${serviceId}/source/upload`,
      first: await archive('1'),
      other: await archive(
        'a version of another length, which no packing makes as short as the first: 0123456789 abcdefghijklmnopqrstuvwxyz',
      ),
      count: () => deploysOf(serviceId),
    }
  },
  createDeploy: async () => ({
    path: `/v1/services/${world.serviceId}/deploys`,
    first: { json: { deployMode: 'deploy_only' } },
    other: { json: { clearCache: 'clear' } },
    count: () => deploysOf(world.serviceId),
  }),
  createJob: async () => ({
    path: `/v1/services/${world.serviceId}/jobs`,
    first: { json: { startCommand: 'true' } },
    other: { json: { startCommand: 'false' } },
    count: () => countOf(`/v1/services/${world.serviceId}/jobs?limit=100`),
  }),
  createDisk: async () => {
    const serviceId = await world.makeService()
    const disk = (name: string): CallOptions => ({ json: { serviceId, name, mountPath: '/var/data', sizeGB: 1 } })
    return { path: '/v1/disks', first: disk('once'), other: disk('twice'), count: () => countOf('/v1/disks?limit=100') }
  },
  createEnvGroup: async () => ({
    path: '/v1/env-groups',
    // A name is taken once, so each time has its own.
    first: { json: { name: `once ${crypto.randomUUID()}` } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/env-groups?limit=100'),
  }),
  createPostgres: async () => ({
    path: '/v1/postgres',
    // A name is taken once, so each time has its own.
    first: { json: { name: `once ${crypto.randomUUID()}` } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/postgres?limit=100'),
  }),
  createPostgresBackup: async () => {
    const id = addDatastore(world.platform, world)
    addBackups(world.platform, { id, workspaceId: world.workspaceId })
    const path = `/v1/postgres/${id}/backups`
    const refused = { path: '/v1/postgres/dpg-00000000000000000000-a/backups', options: { method: 'POST' } }
    return { path, first: { method: 'POST' }, other: { json: {} }, refused, count: () => countOf(`${path}?limit=100`) }
  },
  startPostgresRecovery: async () => {
    const id = addDatastore(world.platform, world)
    addBackups(world.platform, { id, workspaceId: world.workspaceId })
    return {
      path: `/v1/postgres/${id}/recovery`,
      first: { json: { name: `once ${crypto.randomUUID()}` } },
      other: { json: { name: 'another' } },
      count: () => countOf('/v1/postgres?limit=100'),
    }
  },
  createKeyValue: async () => ({
    path: '/v1/key-value',
    // A name is taken once, so each time has its own.
    first: { json: { name: `once ${crypto.randomUUID()}` } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/key-value?limit=100'),
  }),
  createKeyValueBackup: () => backupOnce('key-value'),
  createRedisBackup: () => backupOnce('redis'),
  startKeyValueRecovery: () => recoveryOnce('key-value'),
  startRedisRecovery: () => recoveryOnce('redis'),
  createRedis: async () => ({
    path: '/v1/redis',
    first: { json: { name: `once ${crypto.randomUUID()}` } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/redis?limit=100'),
  }),
  createProject: async () => ({
    path: '/v1/projects',
    // A name is taken once, so each time has its own.
    first: { json: { name: `once ${crypto.randomUUID()}` } },
    other: { json: { name: 'twice' } },
    count: () => countOf('/v1/projects?limit=100'),
  }),
  createEnvironment: async () => {
    const projectId = await world.makeProject()
    return {
      path: '/v1/environments',
      first: { json: { projectId, name: 'once' } },
      other: { json: { projectId, name: 'twice' } },
      count: () => countOf(`/v1/environments?projectId=${projectId}&limit=100`),
    }
  },
  createDiskSnapshot: async () => {
    const path = `${await makeDisk(world)}/snapshots`
    return {
      path,
      first: { method: 'POST' },
      // The operation takes no body, so that all that can differ is how the request says that it has one.
      other: { json: {} },
      refused: { path: '/v1/disks/dsk-00000000000000000000/snapshots', options: { method: 'POST' } },
      count: () => countOf(path),
    }
  },
  rollback: async () => ({
    path: `/v1/services/${world.serviceId}/rollback`,
    first: { json: {} },
    other: { json: { dryRun: true } },
    count: () => deploysOf(world.serviceId),
  }),
}

test('every operation that creates has its requests here', () => {
  expect(Object.keys(creations).sort()).toEqual(operationIds.filter((id) => operationOf(id).creates).sort())
})

describe.each(Object.entries(creations))('%s', (id, prepare) => {
  const send = (path: string, options: CallOptions, key: string): Promise<Reply> =>
    call(world.platform.url + path, {
      ...options,
      token: world.platform.adminToken,
      headers: { ...options.headers, 'idempotency-key': key },
    })

  test('gives the first answer again for the same key and request, creates once, and refuses the key for another', async () => {
    await world.settled()
    const { path, first, other, count } = await prepare()
    const before = await count()
    const answer = await send(path, first, `key-of-${id}`)
    expect(answer.status).toBe(201)
    const again = await send(path, first, `key-of-${id}`)
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: answer.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('x-request-id')).not.toBe(answer.headers.get('x-request-id'))
    expect(expectError(await send(path, other, `key-of-${id}`), 'conflict').message).toContain('Idempotency-Key')
    expect(await count()).toBe(before + 1)
  })

  test('S36: is undone with its answer, where that cannot be kept', async () => {
    // Mails a link, and another one is no harm to who was sent none.
    if (id === 'resetMemberPassword') return
    await world.settled()
    const { db } = world.platform
    const { path, first, count } = await prepare()
    const key = `unkept-${id}`
    if (id === 'createService') first.json = { type: 'web_service', name: 'kept' }
    const before = await count()
    db.run("CREATE TEMP TRIGGER unkept BEFORE UPDATE ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'no answer is kept'); END")
    const failed = await send(path, first, key).finally(() => db.run('DROP TRIGGER unkept'))
    expect(failed.status).toBe(500)
    expect(await count()).toBe(before)
    await world.settled()
    expect((await send(path, first, key)).status).toBe(201)
    expect((await send(path, first, key)).headers.get('idempotent-replayed')).toBe('true')
    expect(await count()).toBe(before + 1)
  })

  test('does not remember a refusal', async () => {
    const { path, refused } = await prepare()
    const spoiled: CallOptions = { method: 'POST', raw: '{', headers: { 'content-type': 'application/json' } }
    const refusal = await send(refused?.path ?? path, refused?.options ?? spoiled, `spoiled-${id}`)
    expect(refused === undefined ? [400, 415] : [404]).toContain(refusal.status)
    await world.settled()
    const { first, path: freshPath } = await prepare()
    // The name of the first service is taken by now; everything else goes through.
    expect((await send(freshPath, first, `spoiled-${id}`)).status).toBe(id === 'createService' ? 409 : 201)
  })
})
