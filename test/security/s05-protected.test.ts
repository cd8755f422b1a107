import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationIds, operationOf } from '../../shared/operations/all.ts'
import { builtInRoles, type Permission, permissionNames } from '../../shared/permission.ts'
import type { PathIds } from '../conformance/requests.ts'
import { addRole } from '../support/access.ts'
import { type CallOptions, call, type Reply } from '../support/client.ts'
import { addEnvironment, putInto } from '../support/environments.ts'
import { defaultWorkspaceId, makeKey } from '../support/members.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { expected } from './access/expected.ts'
import { type Guarded, type InProtected, inProtected } from './access/in-protected.ts'
import { makeThings, requestOn } from './access/request.ts'
import { type Place, thingsOf } from './access/things.ts'

const right: Permission = 'environments.manage_protected'
const secretValue = 'told-to-nobody'

let server: TestServer
let place: Place
let openPlace: Place
/** Everything a developer may do, without and with the right. */
let developer: string
let trusted: string
beforeAll(async () => {
  server = await startTestServer()
  const workspaceId = await defaultWorkspaceId(server)
  const { environmentId, projectId } = addEnvironment(server, { workspaceId, isProtected: true })
  place = { server, workspaceId, token: server.adminToken, environmentId, isProtected: true }
  const { isProtected: _, ...open } = place
  openPlace = { ...open, environmentId: addEnvironment(server, { workspaceId, projectId }).environmentId }
  const all = permissionNames.filter((name) => name !== right)
  developer = (await makeKey(server, addRole(place, all))).secret
  trusted = (await makeKey(server, addRole(place, [...all, right]))).secret
})
afterAll(() => server.close())

type Rows = [keyof typeof inProtected, InProtected][]
const rows = Object.entries(inProtected) as Rows

test('the right is held by administrators alone, of the built-in roles', () => {
  expect(
    Object.entries(builtInRoles)
      .filter(([, { permissions }]) => permissions.includes(right))
      .map(([name]) => name),
  ).toEqual(['admin'])
})

test('what the contract says of protected environments is what the matrix says, and nothing else says anything', () => {
  const said = Object.fromEntries(operationIds.map((id) => [id, operationOf(id).inProtected]).filter(([, word]) => word !== undefined))
  const wanted = rows.map(([id, word]) => [id, typeof word === 'object' ? 'depends' : word]).filter(([, word]) => word !== 'allowed')
  expect(said).toEqual(Object.fromEntries(wanted))
})

async function seed(ids: PathIds): Promise<void> {
  const put = (path: string, json: unknown) =>
    call(`${server.url}/v1/services/${ids.serviceId}/${path}`, { method: 'PUT', json, token: server.adminToken })
  if (ids.envGroupId !== undefined) {
    const group = `${server.url}/v1/env-groups/${ids.envGroupId}`
    await call(`${group}/env-vars`, { method: 'PUT', json: [{ key: 'SOME_KEY', value: secretValue }], token: server.adminToken })
    await call(`${group}/secret-files/a.pem`, { method: 'PUT', json: { content: secretValue }, token: server.adminToken })
  }
  await put('env-vars', [{ key: 'SOME_KEY', value: secretValue }])
  await put('secret-files', [{ name: 'a.pem', content: secretValue }])
  await put('preview-values/SOME_KEY', { value: secretValue })
}

interface Asked {
  token: string
  at: Place
  /** In place of what the matrix usually sends. */
  instead?: Guarded
}

async function ask(id: keyof typeof inProtected, { token, at, instead }: Asked): Promise<Reply<{ message?: string }>> {
  const made = thingsOf(at)
  const ids = instead?.uses === undefined ? await makeThings(id, made) : await made.of([...pathNames(id), ...instead.uses])
  if (inProtected[id] === 'hidden') await seed(ids)
  const { path, options } = requestOn(id, ids)
  const json: CallOptions = instead?.json === undefined ? {} : { json: instead.json(ids) }
  return await call(server.url + path, { ...options, ...json, token })
}

const pathNames = (id: keyof typeof inProtected): string[] => [...operationOf(id).path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

function expectRefused({ status, body }: Reply<{ message?: string }>): void {
  expect({ status, message: body.message }).toEqual({ status: 403, message: expect.stringContaining(right) })
}

const isRefused = (word: InProtected): boolean => word === 'refused' || (typeof word === 'object' && word.depends.isUsualToo === true)

describe.each(rows)('in a protected environment %s', (id, word) => {
  const { status } = expected[id]

  test('answers who lacks the right as the matrix says', async () => {
    const reply = await ask(id, { token: developer, at: place })
    if (isRefused(word)) return expectRefused(reply)
    expect(reply.status).toBe(status)
    if (word !== 'hidden') return
    expect(JSON.stringify(reply.body)).not.toContain(secretValue)
    expect(JSON.stringify(reply.body)).toContain('"hidden":true')
  })

  test('answers who has the right, and everybody elsewhere, as everywhere', async () => {
    const elsewhere = typeof word === 'object' && word.depends.isOfWorkspace ? [] : [{ token: developer, at: openPlace }]
    for (const asked of [...elsewhere, { token: trusted, at: place }]) {
      const reply = await ask(id, asked)
      expect({ status: reply.status, message: reply.body?.message }).toMatchObject({ status })
      expect(JSON.stringify(reply.body) ?? '').not.toContain('"hidden":true')
    }
  })
})

const decided = rows.flatMap(([id, word]) => (typeof word === 'object' ? [[id, word.depends] as const] : []))

test.each(decided)('in a protected environment %s goes by what is asked', async (id, instead) => {
  const { status } = expected[id]
  expectRefused(await ask(id, { token: developer, at: place, instead }))
  expect((await ask(id, { token: trusted, at: place, instead })).status).toBe(status)
  const elsewhere = await ask(id, { token: developer, at: openPlace, instead })
  if (instead.isEverywhere) expectRefused(elsewhere)
  else expect(elsewhere.status).toBe(status)
})

test('an environment that is gone leaves its kept disks to who has the right', async () => {
  const { workspaceId } = place
  const { environmentId } = addEnvironment(server, { workspaceId, isProtected: true })
  const ids = await thingsOf({ ...place, environmentId }).of(['diskId', 'otherForKept'])
  server.db.query('DELETE FROM environments WHERE id = ?').run(environmentId)
  const give = (token: string) =>
    call(`${server.url}/v1/disks/${ids.diskId}`, { method: 'PATCH', json: { serviceId: ids.otherForKept }, token })
  expect((await give(developer)).status).toBe(403)
  expect((await give(trusted)).status).toBe(200)
  putInto(server, ids.otherForKept ?? '', null)
  expect((await call(`${server.url}/v1/disks/${ids.diskId}`, { method: 'DELETE', token: developer })).status).toBe(204)
})
