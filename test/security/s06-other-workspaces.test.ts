import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import { expectError } from '../conformance/expect-error.ts'
import type { PathIds, requestOf } from '../conformance/requests.ts'
import { addPerson, beginSession } from '../support/access.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { defaultWorkspaceId, registerTenant } from '../support/members.ts'
import { plentiful } from '../support/quotas.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expected } from './access/expected.ts'
import { type NamedId, namedIdsOf } from './access/named-ids.ts'
import { makeThings, namedBy, requestOn } from './access/request.ts'
import { type Place, thingsOf } from './access/things.ts'

let server: TestServer
let own: Place
let theirs: Place
let administrator: string
beforeAll(async () => {
  server = await startTestServer({ env: { CP_LOGIN_LIMIT: '1000000', ...plentiful } })
  own = { server, workspaceId: await defaultWorkspaceId(server), token: server.adminToken }
  const stranger = await registerTenant(server, 'stranger@example.com')
  theirs = { server, workspaceId: stranger.workspaceId, token: stranger.token }
  administrator = addPerson(own, 'admin')
})
afterAll(() => server.close())

const guarded = operationIds.filter((id) => operationOf(id).access !== 'public')
const paramsOf = (id: OperationId): string[] => [...operationOf(id).path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
/** What is named within a service or a database needs no owner of its own; the operator names any workspace. */
const namesWithin: ReadonlySet<string> = new Set(['key', 'request', 'fileName', 'username', 'pid', 'provider', 'workspaceId'])

function send(id: OperationId, { path, options }: { path: string; options: CallOptions }): Promise<Reply> {
  if (!expected[id].isPersonal) return call(server.url + path, { ...options, token: own.token })
  const headers = { ...options.headers, origin: server.url }
  return call(server.url + path, { ...options, cookie: beginSession(server, administrator), headers })
}

/** A 404 must not tell an id of others from one that nobody has. */
const withoutIds = (text: string): string =>
  text.replace(/\b[a-z]{3}-[0-9a-v]{20}\b|\bsnp-[0-9a-f-]{36}\b/g, 'ID').replace(/SOME_KEY/g, 'KEY')

async function expectUnknown(id: OperationId, ids: PathIds): Promise<void> {
  const { message } = expectError(await send(id, requestOn(id, ids)), 'not_found')
  const nobodys = requestOn(id, { ...ids, ...Object.fromEntries(paramsOf(id).map((name) => [name, undefined])) } as PathIds)
  const unknown = await send(id, nobodys)
  expect(withoutIds(message)).toBe(withoutIds(expectError(unknown, 'not_found').message))
}

describe.each(guarded.filter((id) => paramsOf(id).some((name) => !namesWithin.has(name))))('S6: %s', (id) => {
  test('answers for the ids of another workspace in its path as for those of nobody', async () => {
    await expectUnknown(id, await makeThings(id, thingsOf(theirs)))
  })

  test.each(paramsOf(id).filter((name) => !namesWithin.has(name)))('looks at whose %s it is, wherever the rest belongs', async (name) => {
    const [ours, others] = [await makeThings(id, thingsOf(own)), await makeThings(id, thingsOf(theirs))]
    expectError(await send(id, requestOn(id, { ...ours, [name]: others[name] ?? '' })), 'not_found')
  })
})

describe.each(guarded)('S6: %s', (id) => {
  test('is not found when X-Workspace-Id names another workspace', async () => {
    const { path, options } = requestOn(id, await makeThings(id, thingsOf(own)))
    const headers = { ...options.headers, 'x-workspace-id': theirs.workspaceId }
    expectError(await send(id, { path, options: { ...options, headers } }), 'not_found')
  })
})

/** What a field with an id of another workspace is answered with, where that is not 404. */
const otherAnswers: Partial<Record<OperationId, Record<string, number>>> = {
  // A list that is narrowed to what is not there is empty.
  listServices: { environmentId: 200, projectId: 200 },
  listEnvGroups: { environmentId: 200, projectId: 200 },
  listEnvironments: { projectId: 200 },
  listPostgres: { environmentId: 200, projectId: 200 },
  listKeyValue: { environmentId: 200, projectId: 200 },
  listRedis: { environmentId: 200, projectId: 200 },
  listDisks: { diskId: 200, serviceId: 200, environmentId: 200, projectId: 200 },
  // Nothing is live that could be gone back from, whatever the id.
  rollback: { deployId: 409 },
  // There is no backup that could be recovered, wherever to.
  startPostgresRecovery: { backupId: 409, environmentId: 409 },
  startKeyValueRecovery: { backupId: 409, environmentId: 409 },
  startRedisRecovery: { backupId: 409, environmentId: 409 },
  // No source host is configured, whatever the id.
  listSourceHostRepos: { installationId: 501 },
  listGithubRepos: { installationId: 501 },
  listGiteaRepos: { installationId: 501 },
  // By this word git says whether it fetches or pushes.
  gitInfoRefs: { service: 400 },
}

/** Fields that look like ids and are none of a workspace's things. */
const noIds: ReadonlySet<string> = new Set(['planId', 'instanceId', 'commitId'])
const foreignFields = guarded.flatMap((id) =>
  namedIdsOf(id).flatMap((named): [OperationId, string, NamedId][] =>
    noIds.has(named.path.at(-1) ?? '') ? [] : [[id, `${named.place} ${named.path.join('/')}`, named]],
  ),
)

/** Which thing a field wants. */
function thingFor(field: string): string {
  if (field === 'resource' || field === 'service' || field === 'serviceIds' || field === 'resourceIds') return 'serviceId'
  if (field === 'environmentIds' || field === 'projectIds') return field.slice(0, -1)
  return field
}

/** The request with one field holding what is another workspace's. */
function withField({ path, options }: ReturnType<typeof requestOf>, { place, path: keys }: NamedId, id: string) {
  if (place === 'query') {
    const url = new URL(path, 'http://here')
    url.searchParams.set(keys[0] ?? '', id)
    return { path: url.pathname + url.search, options }
  }
  const last = keys.at(-1) ?? ''
  const value = last.endsWith('Ids') ? [id] : id
  const json = keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>
  return { path, options: { ...options, json: { ...(options.json as Record<string, unknown> | undefined), ...json } } }
}

test.each(foreignFields)('S6: %s looks at whose id stands in its %s', async (id, _, named) => {
  const field = named.path.at(-1) ?? ''
  const thing = thingFor(field)
  const { [thing]: foreign = '' } = await thingsOf(theirs).of([thing])
  const request = withField(requestOn(id, await makeThings(id, thingsOf(own))), named, foreign)
  const reply = await send(id, request)
  const status = otherAnswers[id]?.[field] ?? 404
  expect({ status: reply.status, message: reply.body }).toMatchObject({ status })
  if (status === 200) expect(reply.body).toEqual([])
  expect(JSON.stringify(reply.body)).not.toContain(theirs.workspaceId)
})

test('S6: every thing that a path names can be made here, so that none goes untried', async () => {
  for (const id of guarded) await makeThings(id, thingsOf(own))
  expect(new Set(guarded.flatMap(namedBy)).size).toBeGreaterThan(8)
})

describe('S6: a user of two workspaces', () => {
  test('has in each the role they have there', async () => {
    const { userId } = await registerTenant(server, 'both@example.com')
    const home = server.db.query<{ id: string }, [string]>('SELECT workspace_id AS id FROM members WHERE user_id = ?').get(userId)?.id ?? ''
    server.db
      .query("INSERT INTO members (workspace_id, user_id, role, created_at) VALUES (?, ?, 'viewer', ?)")
      .run(own.workspaceId, userId, Date.now())
    const { cookie } = await signedIn('both@example.com')
    const create = (headers: Record<string, string>, ownerId?: string) =>
      call(`${server.url}/v1/services`, {
        json: { type: 'web_service', name: `both ${crypto.randomUUID()}`, ...(ownerId === undefined ? {} : { ownerId }) },
        cookie,
        headers: { origin: server.url, ...headers },
      })
    expect((await create({})).status).toBe(201)
    expect((await create({ 'x-workspace-id': home })).status).toBe(201)
    expectError(await create({ 'x-workspace-id': own.workspaceId }), 'forbidden')
    expectError(await create({}, own.workspaceId), 'forbidden')
    expectError(await create({ 'x-workspace-id': home }, own.workspaceId), 'validation_failed')
    expectError(await create({ 'x-workspace-id': home }, theirs.workspaceId), 'not_found')
  })
})

async function signedIn(email: string): Promise<{ cookie: string }> {
  const { userId } = server.db.query<{ userId: string }, [string]>('SELECT id AS userId FROM users WHERE email = ?').get(email) ?? {
    userId: '',
  }
  return { cookie: beginSession(server, userId) }
}

test('S6: nothing that was refused here has changed anything there', async () => {
  const { body } = await call<unknown[]>(`${server.url}/v1/services?name=made`, { token: theirs.token })
  expect(body).toEqual([])
})
