import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIngressClient, type IngressClient } from '../../../../server/ingress/control/client.ts'
import { runIngress } from '../../../../server/ingress/process/main.ts'
import type { Route, RouteTable } from '../../../../server/ingress/tables/route-table.ts'
import { exchangeRaw, startWorld, type World } from '../world.ts'

const unavailable = (name: string): Route => ({ kind: 'unavailable', serviceId: `srv-${name}`, name })
const stream = { listen: { host: '127.0.0.1', port: 45_917 }, targets: [] }

function tableOf(version: number, names: Record<string, string>): RouteTable {
  return { version, hosts: Object.fromEntries(Object.entries(names).map(([host, name]) => [host, unavailable(name)])) }
}

const first = tableOf(1, { 'a.test': 'alpha', 'b.test': 'beta', 'c.test': 'gamma' })
const second = tableOf(2, { 'a.test': 'alpha', 'b.test': 'delta', 'd.test': 'epsilon' })

describe('an ingress that takes changes', () => {
  let world: World

  beforeEach(async () => {
    world = await startWorld()
  })
  afterEach(() => world.close())

  const ask = async (host: string) => (await exchangeRaw(world.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).text
  const saved = () => Bun.file(world.routesFilePath).json()

  test('it serves what has changed and what has not, and no removed host', async () => {
    await world.client.publish(first)
    await world.client.publish(second, first)
    expect(await ask('a.test')).toContain('alpha')
    expect(await ask('b.test')).toContain('delta')
    expect(await ask('c.test')).toContain('Nothing is deployed')
    expect(await ask('d.test')).toContain('epsilon')
    expect((await world.client.status()).routesVersion).toBe(2)
  })

  test('its file holds the whole table', async () => {
    await world.client.publish(first)
    await world.client.publish(second, first)
    expect(await saved()).toEqual(second)
  })

  test('streams are kept where they stay and go where they go', async () => {
    const withStream = { ...first, streams: [stream] }
    await world.client.publish(withStream)
    await world.client.publish({ ...second, streams: [stream] }, withStream)
    expect(await saved()).toEqual({ ...second, streams: [stream] })
    await world.client.publish({ ...second, version: 3, streams: [] }, { ...second, streams: [stream] })
    expect(await saved()).toEqual({ ...second, version: 3, streams: [] })
  })

  test('it is given the whole table when its base is another', async () => {
    await world.client.publish(first)
    const never = tableOf(7, { 'a.test': 'alpha' })
    await world.client.publish({ ...second, version: 8 }, never)
    expect(await ask('d.test')).toContain('epsilon')
    expect(await ask('c.test')).toContain('Nothing is deployed')
  })

  test('it is given the whole table when another publisher came between', async () => {
    await world.client.publish(first)
    await createIngressClient(world.controlSocketPath).publish(tableOf(1, { 'x.test': 'other' }))
    await world.client.publish(second, first)
    expect(await saved()).toEqual(second)
  })

  test('it is given the whole table after a restart, though it has the base from its file', async () => {
    await world.client.publish(first)
    await world.ingress.close()
    const again = await runIngress({
      listen: { host: '127.0.0.1', port: 0 },
      controlSocketPath: world.controlSocketPath,
      routesFilePath: world.routesFilePath,
      version: 'test',
      trustedProxies: [],
      log: () => {},
    })
    try {
      await world.client.publish(second, first)
      expect((await world.client.status()).routesVersion).toBe(2)
      expect(await saved()).toEqual(second)
    } finally {
      await again.close()
    }
  })

  test('changes to a base that it does not have are refused, and change nothing', async () => {
    await world.client.publish(first)
    const changes = { base: 9, version: 10, hosts: {}, removed: ['a.test'] }
    const answer = await fetch('http://ingress/routes', { unix: world.controlSocketPath, method: 'PATCH', body: JSON.stringify(changes) })
    expect(answer.status).toBe(409)
    expect(await ask('a.test')).toContain('alpha')
  })

  test('changes that are none are refused, and change nothing', async () => {
    await world.client.publish(first)
    await expect(world.client.publish({ version: 2, hosts: { ...first.hosts, 'no host': unavailable('x') } }, first)).rejects.toMatchObject(
      { code: 'validation_failed' },
    )
    expect(await saved()).toEqual(first)
  })
})

describe('what is sent', () => {
  interface Sent {
    method: string
    body: unknown
  }
  let dir: string
  let sent: Sent[]
  let isOld: boolean
  let server: Bun.Server<undefined>
  let client: IngressClient

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'cpd-changes-'))
    sent = []
    isOld = false
    const unix = join(dir, 'ingress.sock')
    server = Bun.serve({
      unix,
      fetch: async (request) => {
        sent.push({ method: request.method, body: await request.json() })
        if (!isOld) return new Response(null, { status: 204, headers: { 'accept-patch': 'application/json' } })
        if (request.method === 'PATCH') return Response.json({ code: 'not_found', message: 'no such operation' }, { status: 404 })
        return new Response(null, { status: 204 })
      },
    })
    client = createIngressClient(unix)
  })
  afterEach(async () => {
    await server.stop(true)
    rmSync(dir, { recursive: true })
  })

  test('only changed and removed hosts follow a whole table', async () => {
    await client.publish(first)
    await client.publish(second, first)
    expect(sent).toEqual([
      { method: 'PUT', body: first },
      {
        method: 'PATCH',
        body: { base: 1, version: 2, hosts: { 'b.test': unavailable('delta'), 'd.test': unavailable('epsilon') }, removed: ['c.test'] },
      },
    ])
  })

  test('an ingress that does not say that it takes changes is sent whole tables', async () => {
    isOld = true
    await client.publish(first)
    await client.publish(second, first)
    expect(sent.map(({ method }) => method)).toEqual(['PUT', 'PUT'])
  })

  test('an older ingress that has come in the place of a newer one is sent whole tables again', async () => {
    await client.publish(first)
    isOld = true
    await client.publish(second, first)
    await client.publish({ ...first, version: 3 }, second)
    expect(sent.map(({ method }) => method)).toEqual(['PUT', 'PATCH', 'PUT', 'PUT'])
    expect(sent.at(-1)?.body).toEqual({ ...first, version: 3 })
  })
})
