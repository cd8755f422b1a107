import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiRouteOf } from '../../../../server/edge/routing/api-route.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'
import { call } from '../../../support/client.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const HOST = 'paas.apps.acme.com'

let platform: Platform
let apiPort: number
let ingressPort: number

beforeAll(async () => {
  ;[apiPort = 0] = freePorts(1)
  platform = await startPlatform({
    CP_LISTEN: `127.0.0.1:${apiPort}`,
    CP_PUBLIC_URL: `https://${HOST}`,
    CP_BASE_DOMAIN: 'apps.acme.com',
    // So few that none comes back while a test runs.
    CP_RATE_LIMIT: '10',
  })
  ingressPort = Number(platform.ingress.address.split(':')[1])
  await until('the API is routed', async () => (await platform.ingress.visit(HOST, '/api/health')).status !== 404)
})
afterAll(() => platform.close())

interface Visit {
  port: number
  from: string
  headers?: Record<string, string>
}

/** What is left of the limit of whoever the server takes for the client. Each call counts. */
async function remaining({ port, from, headers = {} }: Visit): Promise<number> {
  const lines = Object.entries({ Host: HOST, Connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect({ host: '127.0.0.1', port, localAddress: from })
  socket.write(`GET /v1/auth/me HTTP/1.1\r\n${lines.join('')}\r\n`)
  let text = ''
  for await (const chunk of socket) text += chunk
  return Number(/ratelimit-remaining: (\d+)/i.exec(text)?.[1])
}

const throughIngress = (from: string, headers?: Record<string, string>) =>
  remaining({ port: ingressPort, from, ...(headers && { headers }) })
const directly = (from: string, headers?: Record<string, string>) => remaining({ port: apiPort, from, ...(headers && { headers }) })

test('the API is reached through the ingress at the host of the public URL', async () => {
  const health = await platform.ingress.visit(HOST, '/api/health')
  expect(JSON.parse(health.text)).toMatchObject({ status: expect.any(String) })
  const me = await fetch(`http://${platform.ingress.address}/v1/auth/me`, {
    headers: { host: HOST, authorization: `Bearer ${platform.adminToken}` },
  })
  expect(me.status).toBe(200)
})

test('a client is counted by its own address, whether it comes through the ingress or not', async () => {
  expect([await throughIngress('127.0.1.1'), await throughIngress('127.0.1.1'), await directly('127.0.1.1')]).toEqual([9, 8, 7])
  expect(await throughIngress('127.0.1.2')).toBe(9)
})

test('nobody forges an address, neither through the ingress nor past it', async () => {
  const forged = { 'X-Forwarded-For': '198.51.100.1' }
  expect([await throughIngress('127.0.1.3', forged), await throughIngress('127.0.1.3', { 'X-Forwarded-For': '198.51.100.2' })]).toEqual([
    9, 8,
  ])
  expect(await directly('127.0.1.3', forged)).toBe(7)
  expect(await directly('127.0.1.3', { ...forged, 'X-Cpd-Ingress': 'a guess' })).toBe(6)
  expect(await throughIngress('127.0.1.3', { ...forged, 'X-Cpd-Ingress': 'a guess' })).toBe(5)
})

test('whoever knows the proof of the ingress speaks for others, and the proof is in files of ours alone', async () => {
  const paths = pathsOf(platform.dataDir)
  const proof = readFileSync(paths.ingressProof, 'utf8')
  expect(proof).toMatch(/^[\w-]{43}$/)
  const headers = { 'X-Forwarded-For': '198.51.100.7', 'X-Cpd-Ingress': proof }
  expect([await directly('127.0.1.4', headers), await directly('127.0.1.5', headers)]).toEqual([9, 8])
  expect(platform.logged.join('')).not.toContain(proof)
})

test('logs are followed through the ingress', async () => {
  const service = await makeService(platform, { name: 'followed' })
  const socket = new WebSocket(`ws://${platform.ingress.address}/v1/logs/subscribe?resource=${service.id}`, {
    headers: { host: HOST, authorization: `Bearer ${platform.adminToken}` },
  } as unknown as string[])
  const opened = Promise.withResolvers<void>()
  const received = Promise.withResolvers<string>()
  socket.onopen = () => opened.resolve()
  socket.onerror = () => opened.reject(new Error('not opened'))
  socket.onmessage = ({ data }) => received.resolve(String(data))
  await opened.promise
  await service.upload('hello-js')
  expect(JSON.parse(await received.promise)).toMatchObject({ labels: expect.any(Array) })
  socket.close()
})

test('no service gets the name of the API', async () => {
  const json = { type: 'web_service', name: 'paas' }
  const made = await call<{ service: { slug: string } }>(`${platform.url}/v1/services`, { json, token: platform.adminToken })
  expect(made.body.service.slug).toMatch(/^paas-[0-9a-v]{4}$/)
})

test('the API has no route without https, by address, or where its port is known only to itself', () => {
  const route = (publicUrl: string, listen = { host: '0.0.0.0', port: 8400 }) =>
    apiRouteOf({ config: { ...platform.context.config, CP_LISTEN: listen }, publicUrl, ingressProof: 'p' })
  expect(route('https://paas.acme.com')).toEqual([
    [
      'paas.acme.com',
      {
        kind: 'proxy',
        serviceId: 'control-plane',
        name: 'The control plane',
        targets: [{ instanceId: 'control-plane', host: '127.0.0.1', port: 8400 }],
        proof: 'p',
      },
    ],
  ])
  expect(route('http://paas.acme.com')).toEqual([])
  expect(route('https://[::1]:8443')).toEqual([])
  expect(route('https://203.0.113.7')).toEqual([])
  expect(route('https://paas.acme.com', { host: '127.0.0.1', port: 0 })).toEqual([])
})
