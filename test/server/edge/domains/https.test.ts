import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CustomDomain } from '../../../../shared/custom-domain.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { newDeveloper } from '../../../support/git.ts'
import { chooseIngressPorts, type IngressPorts } from '../../../support/ingress.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const API_HOST = 'paas.acme.com'

let ports: IngressPorts
let pebble: Pebble
let platform: Platform
let web: TestService

/** The resolver of the authority, which leads every name to this machine, is ours too. */
beforeAll(async () => {
  ports = await chooseIngressPorts()
  pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
  const env = {
    CP_LISTEN: `127.0.0.1:${freePorts(1)[0]}`,
    CP_PUBLIC_URL: `https://${API_HOST}:${ports.https}`,
    CP_BASE_DOMAIN: 'apps.acme.com',
    CP_DNS_RESOLVER: pebble.resolver,
    CP_PUBLIC_ADDRESSES: '127.0.0.1',
    CP_ACME_DIRECTORY: pebble.directory,
    CP_ACME_ROOT: pebble.rootFile,
  }
  platform = await startPlatform(env, { tls: ports })
  web = await makeService(platform, { name: 'web' })
  await web.goLive('hello-js')
})
afterAll(async () => {
  await platform?.close()
  await pebble?.close()
})

/** A request over https by somebody who trusts the authority and nobody else. */
async function visit(host: string, path = '/', headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const ca = await pebble.issuerRoot()
  return await new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: ports.https,
      servername: host,
      path,
      ca,
      agent: false,
      headers: { host, ...headers },
    } as const
    const asked = request(options, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, text })
    })
    asked.on('error', reject)
    asked.end()
  })
}

const trusted = (host: string, path?: string) => until(`${host} is trusted`, () => visit(host, path).catch(() => undefined), 60_000)
const show = async (name: string) => (await web.ask<CustomDomain>(`/custom-domains/${name}`)).body

test('a domain that DNS proves is served over https, and its certificate is told', { timeout: 90_000 }, async () => {
  expect((await web.ask('/custom-domains', { json: { name: 'shop.com' } })).status).toBe(201)
  expect((await trusted('shop.com')).status).toBe(200)
  expect((await show('shop.com')).certificate).toMatchObject({ status: 'issued', issuer: expect.stringContaining('Pebble') })
  expect((await platform.ingress.visit('shop.com')).status).toBe(301)
})

test('a domain that is not proven gets no certificate', { timeout: 90_000 }, async () => {
  await pebble.resolve('/add-a', { host: 'elsewhere.com', addresses: ['198.51.100.1'] })
  await web.ask('/custom-domains', { json: { name: 'elsewhere.com' } })
  await until('it was looked at', async () => !(await show('elsewhere.com')).isCheckPending)
  // One that was added after it has its own by now.
  await web.ask('/custom-domains', { json: { name: 'later.com' } })
  await trusted('later.com')
  expect((await show('elsewhere.com')).certificate).toEqual({ status: 'none' })
  expect(pebble.output()).not.toContain('Value:"elsewhere.com"')
  await expect(visit('elsewhere.com')).rejects.toThrow()
})

test('a domain that is removed has its certificate no longer', { timeout: 90_000 }, async () => {
  await web.ask('/custom-domains', { json: { name: 'gone.com' } })
  await trusted('gone.com')
  await web.ask('/custom-domains/gone.com', { method: 'DELETE' })
  await until('its certificate is shown no more', () =>
    visit('gone.com').then(
      () => false,
      () => true,
    ),
  )
})

test("a service's URL is https once its host has a certificate, and so is reached", { timeout: 90_000 }, async () => {
  expect((await trusted('web.apps.acme.com')).status).toBe(200)
  const { body } = await web.ask<{ serviceDetails: { url: string } }>('')
  expect(body.serviceDetails.url).toBe(`https://web.apps.acme.com:${ports.https}`)
})

test('git pushes over https where it trusts the authority, and not where it does not', { timeout: 90_000 }, async () => {
  await trusted(API_HOST, '/api/health')
  const developer = newDeveloper()
  try {
    const authority = join(developer.folder, 'authority.pem')
    writeFileSync(authority, await pebble.issuerRoot())
    await makeService(platform, { name: 'pushed', type: 'static_site', serviceDetails: { publishPath: '.' } })
    const dir = await developer.begin('site', { 'index.html': 'pushed' })
    const address = `https://${API_HOST}:${ports.https}/git/${await defaultWorkspaceId(platform)}/pushed.git`
    const push = (...settings: string[]) => {
      const given = [`http.curloptResolve=${API_HOST}:${ports.https}:127.0.0.1`, ...settings].flatMap((setting) => ['-c', setting])
      return developer.runWith(platform.adminToken, dir, ...given, 'push', address, 'main')
    }
    expect((await push()).stderr).toContain('certificate')
    expect(await push(`http.sslCAInfo=${authority}`)).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/remote: .*Live\./) })
  } finally {
    developer.leave()
  }
})

test('the API is reached over https, and logs are followed there', { timeout: 90_000 }, async () => {
  expect((await trusted(API_HOST, '/api/health')).text).toContain('"status"')
  const me = await visit(API_HOST, '/v1/auth/me', { authorization: `Bearer ${platform.adminToken}` })
  expect(me.status).toBe(200)
  const options = { headers: { host: API_HOST, authorization: `Bearer ${platform.adminToken}` }, tls: { rejectUnauthorized: false } }
  const socket = new WebSocket(`wss://127.0.0.1:${ports.https}/v1/logs/subscribe?resource=${web.id}`, options as unknown as string[])
  const opened = Promise.withResolvers<void>()
  const received = Promise.withResolvers<string>()
  socket.onerror = () => received.reject(new Error('The socket failed'))
  socket.onmessage = ({ data }) => received.resolve(String(data))
  socket.onopen = () => opened.resolve()
  await Promise.race([opened.promise, received.promise])
  await web.upload('hello-js')
  expect(JSON.parse(await received.promise)).toMatchObject({ message: expect.any(String) })
  socket.close()
})
