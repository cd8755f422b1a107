import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { ok, proxyTo, startRawUpstream } from '../world.ts'
import { type Http2World, startHttp2World } from './h2-world.ts'

const MIB = 1024 * 1024
const LARGE_BYTES = 20 * MIB
const TIMEOUT_MS = 60_000
const UNHURRIED_MS = 30

let world: Http2World
let app: ReturnType<typeof startApp>
let hosts: Parameters<Http2World['publish']>[0]

/** Hashes what it is sent, echoes WebSockets, and sends as much as it is asked for. */
function startApp() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 * LARGE_BYTES,
    idleTimeout: 0,
    async fetch(request, server) {
      if (server.upgrade(request)) return undefined
      const bytes = Number(new URL(request.url).searchParams.get('bytes') ?? 5)
      if (request.method === 'GET' || request.method === 'HEAD') return new Response(pattern(bytes))
      const body = await request.bytes()
      return Response.json({ bytes: body.length, hash: sha1(body) })
    },
    websocket: { message: (socket, message) => void socket.send(message) },
  })
}

/** Bytes that differ from place to place, so that nothing can be lost, doubled or swapped unseen. */
function pattern(bytes: number): Uint8Array {
  return new Uint8Array(new Uint32Array(Math.ceil(bytes / 4)).map((_, index) => index).buffer).subarray(0, bytes)
}

function sha1(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha1').update(bytes).digest('hex')
}

/** A program's path; a test that cannot run must not pass. What Bun puts in front of the path for Node is Bun again. */
async function program(name: string, howToInstall: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const { stdout } = await runProcess(['go', 'env', 'GOPATH'], { env: { PATH, HOME } }).catch(() => ({ stdout: '' }))
  const folders = [...PATH.split(':').filter((folder) => !folder.includes('bun-node')), join(stdout.trim() || join(HOME, 'go'), 'bin')]
  const path = Bun.which(name, { PATH: folders.join(':') })
  if (path === null) throw new Error(`${name} is missing: ${howToInstall}`)
  return path
}

beforeAll(() => {
  world = startHttp2World()
  app = startApp()
  hosts = { 'a.test': proxyTo(app.port ?? 0), '127.0.0.1': proxyTo(app.port ?? 0) }
  world.publish(hosts)
})

afterAll(async () => {
  await app.stop(true)
  world.close()
})

/** Answers after a moment: h2spec looks at what becomes of streams that are still open. */
function startUnhurried() {
  return startRawUpstream((socket) => {
    socket.data.received = ''
    setTimeout(() => socket.write(ok('hello')), UNHURRIED_MS)
  })
}

test(
  'all of h2spec passes, its strict cases too',
  async () => {
    const h2spec = await program('h2spec', 'go install github.com/summerwind/h2spec/cmd/h2spec@latest')
    const upstream = startUnhurried()
    world.publish({ ...hosts, localhost: proxyTo(upstream.port) })
    const { stdout } = await runProcess([h2spec, '-S', '-h', 'localhost', '-p', String(world.port), '-o', '5'], { timeoutMs: TIMEOUT_MS })
    upstream.stop()
    expect(stdout.match(/\d+ tests, .*/)?.[0] ?? stdout).toMatch(/^(\d+) tests, \1 passed, 0 skipped, 0 failed$/)
    expect(Number(/(\d+) tests/.exec(stdout)?.[1])).toBeGreaterThan(140)
  },
  TIMEOUT_MS,
)

test(
  'h2load gets every answer',
  async () => {
    const h2load = await program('h2load', 'apt-get install nghttp2-client')
    const { stdout } = await runProcess([h2load, '-n', '5000', '-c', '8', '-m', '20', `http://127.0.0.1:${world.port}/`], {
      timeoutMs: TIMEOUT_MS,
    })
    expect(stdout).toContain('5000 succeeded, 0 failed, 0 errored, 0 timeout')
  },
  TIMEOUT_MS,
)

test(
  'curl uploads and downloads',
  async () => {
    const curl = await program('curl', 'apt-get install curl')
    const url = (path: string) => `http://127.0.0.1:${world.port}${path}`
    const run = (...args: string[]) => runProcess([curl, '-sS', '--http2-prior-knowledge', ...args], { timeoutMs: TIMEOUT_MS })
    expect((await run('-w', '%{http_version} %{http_code} %{size_download}', '-o', '/dev/null', url('/?bytes=3000000'))).stdout).toBe(
      '2 200 3000000',
    )
    expect((await run('-I', '-w', '%{http_code}', url('/'))).stdout).toMatch(/^HTTP\/2 200[\s\S]*content-length: 5[\s\S]*200$/)
    expect(JSON.parse((await run('-d', 'hello', url('/'))).stdout)).toEqual({ bytes: 5, hash: sha1(Buffer.from('hello')) })
    expect((await run('-w', '%{http_code}', '-o', '/dev/null', '-H', 'Host: nowhere.test', url('/'))).stdout).toBe('404')
  },
  TIMEOUT_MS,
)

/** Run by Node, whose HTTP/2 is nghttp2's: prints what it saw as JSON. */
const nodeClient = `
const http2 = require('node:http2')
const { createHash } = require('node:crypto')
const [port, large] = process.argv.slice(1).map(Number)
const session = http2.connect('http://127.0.0.1:' + port, { maxSessionMemory: 1000, settings: { initialWindowSize: 1 << 20 } })
const sha1 = (bytes) => createHash('sha1').update(bytes).digest('hex')
const ask = (headers, body) => new Promise((resolve, reject) => {
  const stream = session.request({ ':authority': 'a.test', ...headers })
  const parts = []
  let status
  stream.on('response', (head) => { status = head[':status'] })
  stream.on('data', (part) => parts.push(part))
  stream.on('end', () => resolve({ status, body: Buffer.concat(parts) }))
  stream.on('error', reject)
  stream.end(body)
})
const pattern = Buffer.from(new Uint32Array(large / 4).map((_, index) => index).buffer)
const webSocket = () => new Promise((resolve, reject) => {
  const stream = session.request({ ':authority': 'a.test', ':method': 'CONNECT', ':protocol': 'websocket', ':scheme': 'http', ':path': '/', 'sec-websocket-version': '13' })
  stream.on('response', (head) => { if (head[':status'] !== 200) reject(new Error('status ' + head[':status'])) })
  stream.on('data', (part) => { resolve(part.toString('latin1')); stream.close() })
  stream.on('error', reject)
  stream.write(Buffer.from([0x81, 0x83, 0, 0, 0, 0, 0x61, 0x62, 0x63]))
})
session.on('remoteSettings', async () => {
  const [down, up, many, echoed] = await Promise.all([
    ask({ ':path': '/?bytes=' + large }),
    ask({ ':path': '/', ':method': 'POST' }, pattern),
    Promise.all(Array.from({ length: 100 }, (_, index) => ask({ ':path': '/?bytes=' + (index * 997) }))),
    webSocket(),
  ])
  console.log(JSON.stringify({
    down: { bytes: down.body.length, hash: sha1(down.body) },
    up: JSON.parse(up.body.toString()),
    many: many.every(({ status, body }, index) => status === 200 && body.length === index * 997),
    echoed,
  }))
  session.close()
})
`

test(
  'Node transfers large bodies, a hundred streams and a WebSocket at a time',
  async () => {
    const node = await program('node', 'install Node.js 20 or later')
    const { stdout, stderr } = await runProcess([node, '-e', nodeClient, String(world.port), String(LARGE_BYTES)], {
      timeoutMs: TIMEOUT_MS,
    })
    const whole = { bytes: LARGE_BYTES, hash: sha1(pattern(LARGE_BYTES)) }
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({ down: whole, up: whole, many: true, echoed: '\x81\x03abc' })
  },
  TIMEOUT_MS,
)
