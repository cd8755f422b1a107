import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { orderFor } from '../../../../server/edge/certificates/store/orders.ts'
import type { CertificateState } from '../../../../shared/certificate.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { startFront } from './front.ts'
import { type Edge, startEdge, startWorld, type World, type WorldOptions } from './world.ts'

let edge: Edge
let pebble: Pebble

beforeAll(async () => {
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port, blocklist: ['blocked.example'] })
})

afterAll(async () => {
  await pebble?.close()
  edge.close()
})

async function inWorld(options: WorldOptions, work: (world: World) => Promise<void>): Promise<void> {
  const world = await startWorld(pebble, edge, options)
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

const failed = (world: World, name: string): Promise<CertificateState> =>
  until(`${name} has failed`, () => (world.status(name).error === undefined ? undefined : world.status(name)))

const problem = (status: number, type: string, detail: string, headers: Record<string, string> = {}): Response =>
  Response.json({ type: `urn:ietf:params:acme:error:${type}`, detail }, { status, headers })

describe('an authority', () => {
  test('that is stopped for a while is asked again by itself, also when it has forgotten everything', () =>
    inWorld({}, async (world) => {
      world.add('before.shop.example')
      await world.served('before.shop.example')
      await pebble.stop()
      world.add('meanwhile.shop.example')
      const { status, error } = await failed(world, 'meanwhile.shop.example')
      expect([status, error]).toEqual(['failed', expect.stringMatching(/cannot be reached.*asked again by itself/)])
      expect(edge.table.certificates.flatMap(({ hosts }) => hosts)).toContain('before.shop.example')
      await pebble.start()
      await world.served('meanwhile.shop.example')
      expect(world.status('meanwhile.shop.example').error).toBeUndefined()
      const told = (await world.events()).filter(({ details }) => details.domain === 'meanwhile.shop.example').map(({ type }) => type)
      expect(told).toEqual(['certificate_failed', 'certificate_issued'])
    }))

  test('that is asked for a name it refuses is not asked again at once, and its reason is told', () =>
    inWorld({ options: { backoff: { firstMs: 60_000, longestMs: 60_000 } } }, async (world) => {
      world.add('blocked.example')
      const { error } = await failed(world, 'blocked.example')
      expect(error).toMatch(/does not issue for blocked\.example.*rejectedIdentifier/)
      const order = orderFor(world.context.db, 'blocked.example')
      expect(order?.attempts).toBe(1)
      expect((order?.nextAttemptAt ?? 0) - Date.now()).toBeGreaterThan(30_000)
    }))

  test('that does not find the answer to its challenge says so, and the domain gets its certificate when it is put right', () =>
    inWorld({}, async (world) => {
      await pebble.resolve('/add-a', { host: 'elsewhere.shop.example.', addresses: ['127.0.0.2'] })
      world.add('elsewhere.shop.example')
      const { error } = await failed(world, 'elsewhere.shop.example')
      expect(error).toMatch(/must lead to this machine, and its port 80 be reachable/)
      await pebble.resolve('/clear-a', { host: 'elsewhere.shop.example.' })
      await world.served('elsewhere.shop.example')
    }))

  test.each([
    ['caa', /CAA record of www\.shop\.example/],
    ['invalidContact', /CP_ACME_EMAIL/],
    ['userActionRequired', /web site/],
    ['serverInternal', /cannot be reached/],
    ['somethingNew', /refused/],
  ])('that answers with the problem %s says what to do about it, with its own words', async (type, advice) => {
    const front = startFront(pebble, {
      before: (path) =>
        path === '/order-plz' ? problem(type === 'serverInternal' ? 500 : 403, type, 'its\u001b[31m own words') : undefined,
    })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('www.shop.example')
      const { error } = await failed(world, 'www.shop.example')
      expect(error).toMatch(advice)
      expect(error).toContain('its [31m own words')
    })
    front.close()
  })

  test('whose name server fails is told of as the DNS of the domain', () =>
    inWorld({}, async (world) => {
      await pebble.resolve('/set-servfail', { host: 'dead.shop.example.' })
      world.add('dead.shop.example')
      expect((await failed(world, 'dead.shop.example')).error).toMatch(/dead\.shop\.example/)
    }))

  test('that limits the rate is asked again when it said, and not before', async () => {
    const front = startFront(pebble, {
      before: (path) => (path === '/order-plz' ? problem(429, 'rateLimited', 'too many', { 'retry-after': '3600' }) : undefined),
    })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('limited.shop.example')
      expect((await failed(world, 'limited.shop.example')).error).toMatch(/as much as it allows.*rateLimited: too many/)
      const { nextAttemptAt = 0, attempts } = orderFor(world.context.db, 'limited.shop.example') ?? {}
      expect(nextAttemptAt - Date.now()).toBeGreaterThan(3_500_000)
      await Bun.sleep(500)
      expect(attempts).toBe(1)
      expect(front.paths.filter((path) => path === '/order-plz')).toHaveLength(1)
    })
    front.close()
  })

  test('that is overloaded for some requests is asked again, and takes up the order it has', async () => {
    let refusals = 4
    const front = startFront(pebble, {
      before: (path) => (path.startsWith('/authZ/') && refusals-- > 0 ? new Response('busy', { status: 503 }) : undefined),
    })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('busy.shop.example')
      await world.served('busy.shop.example')
      expect(front.paths.filter((path) => path === '/order-plz')).toHaveLength(1)
    })
    front.close()
  })

  test('that hangs holds up nothing else, and the end of the control plane waits for nobody', async () => {
    const front = startFront(pebble, { before: (path) => (path === '/order-plz' ? new Promise<Response>(() => {}) : undefined) })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('hanging.shop.example')
      await until('it is asked', () => front.paths.includes('/order-plz'))
      world.remove('hanging.shop.example')
      await until('it is given up', () => world.status('hanging.shop.example').status === 'none')
      world.add('hanging-too.shop.example')
      await until('it is asked again', () => front.paths.filter((path) => path === '/order-plz').length === 2)
      await world.stop()
    })
    front.close()
  })

  test('that leads to another server is not followed', async () => {
    const elsewhere = Object.fromEntries(
      ['newNonce', 'newAccount', 'newOrder', 'revokeCert'].map((name) => [name, `http://127.0.0.1:${freePorts(1)[0]}/${name}`]),
    )
    const front = startFront(pebble, { before: (path) => (path === '/dir' ? Response.json(elsewhere) : undefined) })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('led.shop.example')
      expect((await failed(world, 'led.shop.example')).error).toMatch(/another server.*not followed/)
    })
    front.close()
  })

  test.each([
    ['nonsense', () => new Response('<html>')],
    ['an endless answer', () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }))],
    ['a redirect', () => Response.redirect('http://127.0.0.1:1/')],
    ['nothing', () => new Response(null, { status: 204 })],
  ])('that answers with %s is one failed try', async (_, answer) => {
    const front = startFront(pebble, { before: (path) => (path === '/order-plz' ? answer() : undefined) })
    await inWorld({ env: { CP_ACME_DIRECTORY: front.directory } }, async (world) => {
      world.add('odd.shop.example')
      expect((await failed(world, 'odd.shop.example')).status).toBe('failed')
    })
    front.close()
  })
})

describe("the directory's own TLS", () => {
  test('is refused where its root is not trusted', async () => {
    await inWorld({ env: { CP_ACME_ROOT: '' } }, async (world) => {
      world.add('www.example-shop.com')
      expect((await failed(world, 'www.example-shop.com')).error).toMatch(/cannot be reached.*self.signed/i)
    })
  })

  test('is refused where another root is set', async () => {
    const other = await startPebble({ httpPort: edge.port })
    await inWorld({ env: { CP_ACME_ROOT: other.rootFile } }, async (world) => {
      world.add('www.shop.example')
      expect((await failed(world, 'www.shop.example')).error).toMatch(/cannot be reached/)
    })
    await other.close()
  })
})

test('an authority that wants an account of its web site is given the one that is set, and without it says so', async () => {
  const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
  const bound = await startPebble({ httpPort: edge.port, externalAccounts: { 'kid-1': hmacKey } })
  const env = { CP_ACME_DIRECTORY: bound.directory, CP_ACME_ROOT: bound.rootFile }
  await inWorld({ env }, async (world) => {
    world.add('unbound.shop.example')
    expect((await failed(world, 'unbound.shop.example')).error).toMatch(/CP_ACME_EAB_KID/)
  })
  await inWorld({ env: { ...env, CP_ACME_EAB_KID: 'kid-1', CP_ACME_EAB_HMAC: hmacKey } }, async (world) => {
    world.add('bound.shop.example')
    await world.served('bound.shop.example')
    expect(world.server.logged.join('')).not.toContain(hmacKey)
  })
  await bound.close()
})
