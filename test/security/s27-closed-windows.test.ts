import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { connectHttp2, type Fields, frame, get, type H2Client, Type, uint32 } from '../server/ingress/http2/h2-client.ts'
import { type Http2World, startHttp2World } from '../server/ingress/http2/h2-world.ts'
import { ok, proxyTo, startRawUpstream } from '../server/ingress/world.ts'
import { until } from '../support/until.ts'

const REFUSED_STREAM = 7
const CANCEL = 8
const INITIAL_WINDOW = 4
const CLIENTS = 3
const STREAMS = 60
/** Larger than what is kept in memory. */
const LARGE_BYTES = 5 * 1024 * 1024
const KEPT_BYTES = 1024 * 1024

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close()
})

const large = Buffer.from(new Uint32Array(LARGE_BYTES / 4).map((_, index) => index).buffer)
const asking = (path: string): Fields => [...get.slice(0, 3), [':path', path]]

function siteWorld(limits: Parameters<typeof startHttp2World>[0] = {}): { world: Http2World; root: string } {
  const root = mkdtempSync(join(tmpdir(), 'cpd-s27-'))
  writeFileSync(join(root, 'large.bin'), large)
  for (let index = 0; index < 4; index++) writeFileSync(join(root, `kept-${index}.bin`), large.subarray(index, index + KEPT_BYTES))
  const world = startHttp2World(limits)
  world.publish({ 'a.test': { kind: 'static', serviceId: 'srv-s', name: 'site', releaseId: 'rel-1', root, headers: [], rules: [] } })
  closing.push(() => rmSync(root, { recursive: true, force: true }), world.close)
  return { world, root }
}

const openBelow = (root: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)
    } catch {
      return false
    }
  }).length

async function client(world: Http2World): Promise<H2Client> {
  const made = await connectHttp2(world.port, [[INITIAL_WINDOW, 0]], false)
  closing.push(made.kill)
  return made
}

const idOf = (index: number): number => 2 * index + 1
const isHead = ({ type }: { type: number }): boolean => type === Type.headers

test('streams with a closed window hold no descriptor and no byte of a file, and go on where it is opened', async () => {
  const { world, root } = siteWorld()
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => client(world)))
  for (const each of clients) {
    for (let index = 0; index < STREAMS; index++)
      each.request(idOf(index), asking(index % 2 === 0 ? '/large.bin' : `/kept-${index % 4}.bin`))
  }
  for (const each of clients) await each.until((frames) => frames.filter(isHead).length === STREAMS)
  await until('no file is open', () => openBelow(root) === 0)
  await until('nothing waits', () => world.unsent.totalBytes === 0)
  const [first] = clients
  first?.send(frame(Type.windowUpdate, 0, 0, uint32(LARGE_BYTES)), frame(Type.windowUpdate, 0, 1, uint32(LARGE_BYTES)))
  expect((await first?.body(1))?.equals(large)).toBe(true)
})

test('a window that is opened byte by byte does not put off the end', async () => {
  const { world } = siteWorld({ writeIdleMs: 500 })
  const slow = await client(world)
  slow.request(1, asking('/large.bin'))
  slow.request(3, asking('/kept-0.bin'))
  await slow.until((frames) => frames.filter(isHead).length === 2)
  const drip = setInterval(() => slow.send(...[1, 3].map((id) => frame(Type.windowUpdate, 0, id, uint32(1)))), 50)
  closing.push(() => clearInterval(drip))
  expect(await slow.resetCode(1)).toBe(CANCEL)
  expect(await slow.resetCode(3)).toBe(CANCEL)
})

function appWorld(
  limits: Parameters<typeof startHttp2World>[0],
  answer: (socket: Bun.Socket<{ received: string; answers: number }>) => void,
): Http2World {
  const world = startHttp2World(limits)
  const upstream = startRawUpstream((socket, text) => {
    if (text.endsWith('\r\n\r\n')) answer(socket)
  })
  world.publish({ 'a.test': proxyTo(upstream.port) })
  closing.push(upstream.stop, world.close)
  return world
}

test('beyond the budget new streams are refused, the process goes on, and everything returns when the clients have gone', async () => {
  const world = appWorld({ maxUnsentBytes: 2 * 1024 * 1024 }, (socket) => void socket.write(ok('x'.repeat(60_000))))
  const greedy = await client(world)
  for (let index = 0; index < STREAMS; index++) {
    greedy.request(idOf(index), get)
    await greedy.until((frames) => frames.some((f) => f.streamId === idOf(index)))
    await until('what waits is counted', () => world.unsent.totalBytes > 0)
  }
  const codes = greedy.frames.filter(({ type }) => type === Type.reset).map(({ payload }) => payload.readUInt32BE())
  expect(codes.length).toBeGreaterThan(0)
  expect(new Set(codes)).toEqual(new Set([REFUSED_STREAM]))
  expect(world.unsent.totalBytes).toBeLessThan(1024 * 1024)
  greedy.kill()
  await until('nothing waits any more', () => world.unsent.totalBytes === 0)
  const next = await connectHttp2(world.port)
  closing.push(next.kill)
  next.request(1)
  expect((await next.body(1)).length).toBe(60_000)
})

test('ten interim answers are passed on, and an instance that sends more is a 502, however little its client reads', async () => {
  let isGone = false
  const world = appWorld({}, (socket) => {
    const flood = setInterval(() => {
      if (socket.write(`HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(1000)}>\r\n\r\n`.repeat(20)) < 0) {
        isGone = true
        clearInterval(flood)
      }
    }, 10)
    closing.push(() => clearInterval(flood))
  })
  const reader = await client(world)
  reader.request(1)
  const head = await reader.head(1)
  expect(head[':status']).toBe('502')
  expect(reader.frames.filter(({ type, fields }) => type === Type.headers && fields[':status'] === '103')).toHaveLength(10)
  await until('the instance is let go of', () => isGone)
})
