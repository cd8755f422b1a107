import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeployPlan } from '../../../../shared/deploy-plan.ts'
import { createService, packApp } from '../../../support/apps.ts'
import { tarGz } from '../../../support/archives.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

type Answer = DeployPlan & { message: string }

const plan = (query: string, raw: Uint8Array, type = 'application/gzip') =>
  call<Answer>(`${server.url}/v1/deploy-plan${query}`, {
    token: server.adminToken,
    raw: new Uint8Array(raw),
    headers: { 'content-type': type },
  })

const changes = () =>
  server.db.query<{ count: number }, []>('SELECT (SELECT count(*) FROM services) + (SELECT count(*) FROM audit_log) AS count').get()

test('what a deploy would do is told for a service that is not there yet, and nothing is kept', async () => {
  const before = changes()
  const { status, body } = await plan('?startCommand=node%20server.js', await packApp('hello-js', { 'package-lock.json': '{}' }))
  expect({ status, body }).toMatchObject({ status: 200, body: { type: 'web_service', rootDir: '', startCommand: 'node server.js' } })
  expect(body.notes.join(' ')).toContain('Runtime: ')
  expect(readdirSync(server.context.paths.uploads)).toEqual([])
  expect(changes()).toEqual(before)
})

test('the settings of a service count, and those that are given go before them', async () => {
  const id = await createService(server, {
    name: 'planned',
    rootDir: 'web',
    serviceDetails: { envSpecificDetails: { buildCommand: 'make', startCommand: './run', preDeployCommand: './migrate' } },
  })
  const source = await tarGz([
    { name: 'web/Procfile', content: 'web: ./other' },
    { name: 'other/go.mod', content: 'module m' },
  ])
  const { body } = await plan(`?serviceId=${id}&buildCommand=make%20all`, source)
  expect(body).toEqual({
    type: 'web_service',
    runtime: 'shell',
    rootDir: 'web',
    steps: [{ name: 'build', command: 'make all' }],
    preDeployCommand: './migrate',
    startCommand: './run',
    publishPaths: [],
    notes: [],
  })
  expect((await plan(`?serviceId=${id}&type=static_site`, source)).body.message).toContain('cannot change')
  expect((await plan(`?serviceId=${id.replace(/.$/, '0')}`, source)).status).toBe(404)
})

test('a member of a workspace is told with its place', async () => {
  const source = await tarGz([
    { name: 'package.json', content: '{"workspaces":["apps/*"]}' },
    { name: 'package-lock.json', content: '{}' },
    { name: 'apps/web/package.json', content: '{"name":"web","scripts":{"start":"node server.js"}}' },
  ])
  expect((await plan('?rootDir=apps/web', source)).body).toMatchObject({ rootDir: '', appDir: 'apps/web', packageManager: 'npm' })
})

test.each([
  ['no source that is known', () => tarGz([{ name: 'notes.txt', content: 'hello' }]), 400, 'Nothing was found that says how to start'],
  ['a website as a web service', () => tarGz([{ name: 'index.html', content: 'hello' }]), 400, 'static_site'],
  ['a link out of the source', () => tarGz([{ name: 'out', type: 'symlink', linkname: '/etc/passwd' }]), 400, 'out'],
  ['no archive', async () => Buffer.from('hello'), 415, 'tar.gz'],
  ['nothing', async () => Buffer.from(''), 400, 'empty'],
] as const)('%s is refused in words, and leaves nothing', async (_, source, status, words) => {
  const refused = await plan('', await source())
  expect(refused.status).toBe(status)
  expect(refused.body.message).toContain(words)
  expect(readdirSync(server.context.paths.uploads)).toEqual([])
})
