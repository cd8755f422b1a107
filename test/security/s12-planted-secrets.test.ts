import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type OperationId, operationIds, operationOf } from '../../shared/operations/all.ts'
import { requestOf } from '../conformance/requests.ts'
import { type SourceHosts, startSourceHosts } from '../conformance/source-hosts.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { type CallOptions, call, cookieOf } from '../support/client.ts'
import { defaultWorkspaceId, makeKey, memberPassword, registerTenant } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { testAdmin, testStaticToken } from '../support/server.ts'
import { openSocket } from '../support/socket.ts'
import { addGithubApp } from '../support/source-hosts.ts'
import { allCommandLines, filesWith } from './data-files.ts'

let sourceHosts: SourceHosts
let platform: Platform
let serviceId: string
let ids: Record<string, string>
const commandLines = new Set<string>()
let viewer: string
/** Every secret of this installation, by what it is. */
const planted: Record<string, string> = {
  'environment value': 'pLaNtEd-env-8c1d40f2',
  'secret file': 'pLaNtEd-file-51e7a9b3',
  'replaced environment value': 'pLaNtEd-old-4410cc',
  'wrong password': 'pLaNtEd-wrong-password',
  "user's password": memberPassword,
  "administrator's password": testAdmin.password,
  'static token': testStaticToken,
  'token of a source host': 'pLaNtEd-source-host-token',
}

beforeAll(async () => {
  sourceHosts = startSourceHosts()
  platform = await startPlatform(sourceHosts.env)
  addGithubApp(platform, await defaultWorkspaceId(platform))
  const { env, file, old } = { env: planted['environment value'], file: planted['secret file'], old: planted['replaced environment value'] }
  const stop = watchCommandLines()
  serviceId = await createService(platform, {
    name: 'keeper',
    envVars: [
      { key: 'SECRET', value: old },
      { key: 'OTHER', value: env },
    ],
    secretFiles: [{ name: 'secret.txt', content: file }],
    serviceDetails: { envSpecificDetails: { buildCommand: 'test -n "$SECRET"', preDeployCommand: 'test -n "$SECRET"' } },
  })
  await deployApp(platform, serviceId, await packApp('hello-js'))
  const api = (path: string, options: CallOptions) =>
    call<{ id: string; secret: string }>(platform.url + path, { token: platform.adminToken, ...options })
  await api('/v1/gitea/installations', { method: 'POST', json: { token: planted['token of a source host'] } })
  await api(`/v1/services/${serviceId}/env-vars/SECRET`, { method: 'PUT', json: { value: env } })
  const { deploy } = await deployApp(platform, serviceId, await packApp('hello-js', { VERSION: '2\n' }))
  stop()
  const key = await api('/v1/api-keys', { json: { name: 'k', role: 'developer' }, headers: { 'idempotency-key': 'planted' } })
  planted['API key'] = key.body.secret
  const tenant = await registerTenant(platform, 'member@example.com')
  planted['session token'] = tenant.cookie.split('=')[1] ?? ''
  planted['administrator key of another workspace'] = tenant.token
  planted['session of the administrator'] = cookieOf(await call(`${platform.url}/v1/auth/login`, { json: testAdmin })).split('=')[1] ?? ''
  viewer = (await makeKey(platform, 'viewer')).secret
  const events = await call<{ event: { id: string } }[]>(`${platform.url}/v1/services/${serviceId}/events`, { token: platform.adminToken })
  ids = { serviceId, deployId: deploy.id, eventId: events.body[0]?.event.id ?? '', key: 'SECRET', keyId: key.body.id }
  await provokeErrors()
})
afterAll(async () => {
  await platform.close()
  await sourceHosts.close()
})

/** Collects the arguments of every process that exists while something is deployed. */
function watchCommandLines(): () => void {
  let isWatching = true
  const watch = async () => {
    while (isWatching) {
      for (const line of allCommandLines()) commandLines.add(line)
      await setImmediate()
    }
  }
  void watch()
  return () => {
    isWatching = false
  }
}

/** Secrets in places where they are refused: an error must not repeat them. */
const provoked: string[] = []
async function provokeErrors(): Promise<void> {
  const secrets = Object.values(planted)
  const send = async (path: string, options: CallOptions) => provoked.push(JSON.stringify((await call(platform.url + path, options)).body))
  const token = platform.adminToken
  for (const secret of secrets) {
    await send('/v1/auth/me', { token: `${secret}x` })
    await send('/v1/auth/me', { headers: { authorization: `Basic ${secret}` } })
    await send(`/v1/services/${serviceId}/env-vars`, { method: 'PUT', json: [{ key: 'bad key', value: secret }], token })
    await send(`/v1/services/${serviceId}/env-vars`, { method: 'PUT', json: [{ key: 'A', value: { secret } }], token })
    await send(`/v1/services/${serviceId}/env-vars`, {
      method: 'PUT',
      raw: `[{"key": "A", "value": "${secret}"`,
      headers: { 'content-type': 'application/json' },
      token,
    })
    await send(`/v1/services/${serviceId}/secret-files`, { method: 'PUT', json: [{ name: '/', content: secret }], token })
  }
  await send('/v1/auth/login', { json: { email: 'nobody@example.com', password: planted['wrong password'] } })
  await send('/v1/auth/login', { json: { email: testAdmin.email, password: planted['wrong password'] } })
  await send('/v1/auth/register', { json: { email: 'no', password: planted['wrong password'] } })
}

const secretsIn = (text: string): string[] => Object.entries(planted).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []))
const reads = operationIds.filter((id) => operationOf(id).method === 'GET' && !operationOf(id).webSocket)
const mayShow: Partial<Record<OperationId, string[]>> = {
  listEnvVars: ['environment value'],
  getEnvVar: ['environment value'],
  listSecretFiles: ['secret file'],
}

async function read(id: OperationId, token: string): Promise<string> {
  const { path } = requestOf(id, ids)
  const reply = await call(platform.url + path, { token })
  expect(reply.status).toBeLessThan(500)
  return JSON.stringify([reply.body, ...reply.headers])
}

test('S12: all secrets were planted', () => {
  for (const [name, secret] of Object.entries(planted)) expect({ name, isSecret: secret.length >= 12 }).toEqual({ name, isSecret: true })
})

describe.each(reads)('S12: %s', (id) => {
  test('shows no secret to a reader, and to an administrator only what env.read is for', async () => {
    expect(secretsIn(await read(id, viewer))).toEqual([])
    expect(secretsIn(await read(id, platform.adminToken)).filter((name) => !mayShow[id]?.includes(name))).toEqual([])
  })
})

test('S12: without env.read the names are there and the values are not', async () => {
  const { body } = await call<{ envVar: unknown }[]>(`${platform.url}/v1/services/${serviceId}/env-vars`, { token: viewer })
  expect(body.map(({ envVar }) => envVar)).toEqual([
    { key: 'OTHER', value: '', hidden: true },
    { key: 'SECRET', value: '', hidden: true },
  ])
  const files = await call<{ secretFile: unknown }[]>(`${platform.url}/v1/services/${serviceId}/secret-files`, { token: viewer })
  expect(files.body.map(({ secretFile }) => secretFile)).toEqual([{ name: 'secret.txt', content: '', hidden: true }])
  const one = await call(`${platform.url}/v1/services/${serviceId}/env-vars/SECRET`, { token: viewer })
  expect(one.body).toEqual({ key: 'SECRET', value: '', hidden: true })
})

test('S12: a rollback that is only asked about names what differs, without values', async () => {
  const reply = await call(`${platform.url}/v1/services/${serviceId}/rollback`, { json: { dryRun: true }, token: platform.adminToken })
  expect(reply.body).toMatchObject({ envVars: { changed: ['SECRET'] } })
  expect(secretsIn(JSON.stringify(reply.body))).toEqual([])
})

test('S12: errors do not repeat what was sent', () => {
  expect(provoked.length).toBeGreaterThan(40)
  expect(secretsIn(provoked.join('\n'))).toEqual([])
})

test("S9, S12: the server's own log holds no secret", () => {
  expect(secretsIn(platform.logged.join(''))).toEqual([])
})

test('S12: no audit entry of any workspace holds a secret, whatever was asked for', async () => {
  const secret = planted['environment value'] ?? ''
  const send = (path: string, options: CallOptions) => call(platform.url + path, { token: platform.adminToken, ...options })
  const json = [{ key: 'SECRET', value: secret }]
  await send(`/v1/services/${serviceId}/env-vars`, { method: 'PUT', json })
  await send(`/v1/services/${serviceId}/secret-files`, { method: 'PUT', json: [{ name: 'secret.txt', content: planted['secret file'] }] })
  await send('/v1/auth/login', { json: { ...testAdmin, otp: '123456' } })
  await send(`/v1/team-invites/accept`, { json: { token: secret, name: 'N', password: secret } })
  await send('/v1/device-token', { json: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: secret } })
  const shell = await openSocket(`${platform.url}/v1/services/${serviceId}/shell?command=echo%20${secret}`, {
    authorization: `Bearer ${platform.adminToken}`,
  })
  shell.close()
  const events = platform.db.query<{ event: string }, []>('SELECT DISTINCT event FROM audit_log').all()
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(['env_vars.replaced', 'shell.opened', 'access.denied']))
  expect(secretsIn(JSON.stringify(platform.db.query('SELECT * FROM audit_log').all()))).toEqual([])
  const opened = platform.db.query<{ target: string }, []>("SELECT target FROM audit_log WHERE event = 'shell.opened'").get()
  expect(opened?.target).toBe(serviceId)
})

test('S9, S12: no process was ever started with a secret in its arguments', () => {
  const seen = [...commandLines, ...allCommandLines()].join('\n')
  expect(seen).toContain(serviceId)
  expect(secretsIn(seen)).toEqual([])
})

test('S9, S12: no file holds a secret in clear, write-ahead logs included, but the secret files laid out for the app itself', () => {
  const files = filesWith(
    platform.context.paths.data,
    Object.values(planted),
    (path) => !/\/services\/[^/]+\/secrets\//.test(path) && !path.includes('/toolchain/'),
  )
  expect(files).toEqual([])
})

test('S9: the static token is compared in constant time, by its hash', async () => {
  const source = await Bun.file(new URL('../../server/identity/credentials/identify.ts', import.meta.url)).text()
  expect(source).toContain('timingSafeEqual(')
  const users = (await Array.fromAsync(new Bun.Glob('**/*.ts').scan({ cwd: `${import.meta.dirname}/../../server` }))).sort()
  const naming: string[] = []
  for (const path of users) {
    const text = await Bun.file(`${import.meta.dirname}/../../server/${path}`).text()
    if (text.includes('SERVICE_API_TOKEN')) naming.push(path)
  }
  // Read as a setting, and handed to the one function that compares it.
  expect(naming).toEqual(['api/app/app.ts', 'identity/settings.ts'])
})
