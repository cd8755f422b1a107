import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '../../../../server/ingress/tables/route-table.ts'
import { eventually, exchangeRaw, startWorld, type World } from '../world.ts'

const LARGE_BYTES = 20 * 1024 * 1024
/** Kept in memory, in several pieces. */
const MEDIUM_BYTES = 1024 * 1024 + 7

let world: World
let root: string

const large = Buffer.from(new Uint32Array(LARGE_BYTES / 4).map((_, index) => index).buffer)
const page = `<h1>home</h1>${'text '.repeat(1000)}`

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

beforeAll(async () => {
  world = await startWorld()
  root = mkdtempSync(join(tmpdir(), 'cpd-site-'))
  write('index.html', page)
  write('about.html', 'about us')
  write('docs/index.html', 'docs')
  write('assets/app.js', `console.log(1)${' '.repeat(2000)}`)
  write('assets/ready.css', 'a{}'.repeat(1000))
  write('assets/ready.css.br', 'compressed by the build')
  write('large.bin', large)
  write('medium.bin', large.subarray(0, MEDIUM_BYTES))
  write('404.html', 'lost')
  write('.env', 'SECRET=1')
  write('.well-known/security.txt', 'contact')
  write('empty.txt', '')
  symlinkSync('/etc/passwd', join(root, 'passwd'))
  symlinkSync('/etc', join(root, 'etc'))
  symlinkSync('about.html', join(root, 'linked.html'))
  const site = { kind: 'static', serviceId: 'srv-s', name: 'site', root } as const
  await world.publish({
    's.test': {
      ...site,
      releaseId: 'rel-1',
      headers: [
        { path: '/assets/*', name: 'Cache-Control', value: 'public, max-age=31536000, immutable' },
        { path: '/*', name: 'X-Frame-Options', value: 'DENY' },
        { path: '/*', name: 'Content-Length', value: '7' },
      ],
      rules: [
        { type: 'redirect', source: '/old/*', destination: '/new/*' },
        { type: 'redirect', source: '/temp', destination: 'https://example.com/x', status: 302 },
        { type: 'rewrite', source: '/app/*', destination: '/index.html' },
        { type: 'rewrite', source: '/index.html', destination: '/about.html' },
      ],
    },
    'plain.test': { ...site, releaseId: 'rel-2', root: join(root, 'docs'), headers: [], rules: [] },
  })
})

afterAll(async () => {
  await world.close()
  rmSync(root, { recursive: true, force: true })
})

interface Answer {
  status: number
  headers: Headers
  body: Buffer
}

async function ask(path: string, headers: Record<string, string> = {}, { method = 'GET', host = 's.test' } = {}): Promise<Answer> {
  const lines = Object.entries({ host, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const { text } = await exchangeRaw(world.port, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const headEnd = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...fields] = text.slice(0, headEnd).split('\r\n')
  const pairs = fields.map((field): [string, string] => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1).trim()])
  return { status: Number(statusLine.split(' ')[1]), headers: new Headers(pairs), body: Buffer.from(text.slice(headEnd + 4), 'latin1') }
}

test('a path is a file, the index of a folder, or a page without its extension', async () => {
  expect((await ask('/')).body.toString()).toBe(page)
  expect((await ask('/docs/')).body.toString()).toBe('docs')
  expect((await ask('/about')).body.toString()).toBe('about us')
  expect((await ask('/about.html?x=1')).body.toString()).toBe('about us')
  expect((await ask('/linked.html')).body.toString()).toBe('about us')
  expect((await ask('/.well-known/security.txt')).body.toString()).toBe('contact')
  expect(await ask('/empty.txt')).toMatchObject({ status: 200, body: Buffer.alloc(0) })
})

test('a folder without its slash is sent to it, on this host and with the query', async () => {
  const { status, headers } = await ask('/docs?x=1')
  expect([status, headers.get('location')]).toEqual([301, '/docs/?x=1'])
  expect((await ask('//docs')).headers.get('location')).toBe('/docs/')
})

test('nothing outside of the release can be read', async () => {
  for (const path of [
    '/passwd',
    '/etc/passwd',
    '/../secret',
    '/..%2f..%2fetc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/.env',
    '/docs/../.env',
  ]) {
    const { status, body } = await ask(path)
    expect([path, status]).toEqual([path, 404])
    expect(body.toString()).not.toMatch(/root:|SECRET/)
  }
  expect((await ask('/about.html', {}, { host: 'plain.test' })).status).toBe(404)
})

test('what is missing gets the 404 page of the site, or ours', async () => {
  expect(await ask('/missing')).toMatchObject({ status: 404, body: Buffer.from('lost') })
  const ours = await ask('/missing', {}, { host: 'plain.test' })
  expect(ours.status).toBe(404)
  expect(ours.body.toString()).toContain('site has no such page')
})

test('redirect rules come before files, rewrite rules after them', async () => {
  const moved = await ask('/old/a%20b/c?q=1')
  expect([moved.status, moved.headers.get('location')]).toEqual([301, '/new/a%20b/c?q=1'])
  const away = await ask('/temp')
  expect([away.status, away.headers.get('location')]).toEqual([302, 'https://example.com/x'])
  expect((await ask('/app/any/where')).body.toString()).toBe(page)
  expect((await ask('/index.html')).body.toString()).toBe(page)
})

test('headers of rules replace the default, but never the framing', async () => {
  const { headers } = await ask('/assets/app.js')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('content-length')).toBe('2014')
  expect((await ask('/')).headers.get('cache-control')).toBe('public, max-age=0, must-revalidate')
})

test('a copy that is still good is answered 304 without a body', async () => {
  const first = await ask('/')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[^"]+"$/)
  const again = await ask('/', { 'if-none-match': etag })
  expect([again.status, again.body.length, again.headers.get('etag')]).toEqual([304, 0, etag])
  expect((await ask('/', { 'if-none-match': '"other"' })).status).toBe(200)
  expect((await ask('/', { 'if-modified-since': first.headers.get('last-modified') ?? '' })).status).toBe(304)
})

test('the same path has another tag in another release', async () => {
  const tag = async () => (await ask('/docs/', {}, { host: 's.test' })).headers.get('etag')
  expect(await tag()).not.toBe((await ask('/', {}, { host: 'plain.test' })).headers.get('etag'))
})

test('text is compressed as the client likes it, each form with its own tag', async () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync }
  const tags = new Set([(await ask('/')).headers.get('etag')])
  for (const [encoding, decode] of Object.entries(decoders)) {
    const { headers, body } = await ask('/', { 'accept-encoding': encoding })
    expect(headers.get('content-encoding')).toBe(encoding)
    expect(headers.get('vary')).toBe('Accept-Encoding')
    expect(body.length).toBeLessThan(page.length)
    expect(decode(body).toString()).toBe(page)
    tags.add(headers.get('etag'))
  }
  expect(tags.size).toBe(4)
  expect((await ask('/large.bin', { 'accept-encoding': 'gzip' })).headers.get('content-encoding')).toBeNull()
})

test('what the build has compressed is used as it is', async () => {
  expect((await ask('/assets/ready.css', { 'accept-encoding': 'br' })).body.toString()).toBe('compressed by the build')
})

test('ranges, also of files that are not kept in memory', async () => {
  const part = await ask('/large.bin', { range: 'bytes=1000000-1999999' })
  expect(part.status).toBe(206)
  expect(part.headers.get('content-range')).toBe(`bytes 1000000-1999999/${LARGE_BYTES}`)
  expect(part.body.equals(large.subarray(1_000_000, 2_000_000))).toBe(true)
  expect((await ask('/about', { range: 'bytes=-2', 'accept-encoding': 'gzip' })).body.toString()).toBe('us')
  expect((await ask('/about', { range: 'bytes=0-1', 'if-range': '"old"' })).status).toBe(200)
  const beyond = await ask('/about', { range: 'bytes=100-' })
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */8'])
})

test('HEAD says what GET would send', async () => {
  const { status, headers, body } = await ask('/large.bin', {}, { method: 'HEAD' })
  expect([status, headers.get('content-length'), body.length]).toEqual([200, String(LARGE_BYTES), 0])
})

test('a large file arrives whole', async () => {
  expect((await ask('/large.bin')).body.equals(large)).toBe(true)
})

test('an answer is the same when it is given again, whatever was asked of the same path between', async () => {
  const plain = async (path: string, headers = {}, method = 'GET') => {
    const { status, headers: fields, body } = await ask(path, headers, { method })
    for (const name of ['date', 'x-request-id']) fields.delete(name)
    return { status, fields: [...fields], body: body.toString('latin1') }
  }
  for (const [path, headers] of [
    ['/', {}],
    ['/', { 'accept-encoding': 'br' }],
    ['/', { range: 'bytes=1-3' }],
    ['/', { 'if-none-match': '*' }],
    ['/missing', {}],
    ['/app/any', {}],
    ['/old/x?y', {}],
    ['/medium.bin', {}],
  ] as const) {
    const first = await plain(path, headers)
    expect(await plain(path, headers, 'HEAD')).toMatchObject({ body: '' })
    expect(await plain(path, headers)).toEqual(first)
  }
})

test('a file in several pieces arrives whole and in parts, also at a client that reads slowly', async () => {
  const medium = large.subarray(0, MEDIUM_BYTES)
  for (const _ of [1, 2]) expect((await ask('/medium.bin')).body.equals(medium)).toBe(true)
  const part = await ask('/medium.bin', { range: 'bytes=200000-800000' })
  expect(part.body.equals(medium.subarray(200_000, 800_001))).toBe(true)
  let received = 0
  const count = 12
  const { promise, resolve } = Promise.withResolvers<void>()
  const client = await Bun.connect({
    hostname: '127.0.0.1',
    port: world.port,
    socket: {
      data(socket, bytes) {
        received += bytes.length
        socket.pause()
        setTimeout(() => socket.resume(), 1)
      },
      close: () => resolve(),
    },
  })
  const request = 'GET /medium.bin HTTP/1.1\r\nHost: s.test\r\n'
  client.write(`${`${request}\r\n`.repeat(count - 1)}${request}Connection: close\r\n\r\n`)
  await promise
  expect(received).toBeGreaterThan(count * MEDIUM_BYTES)
  expect(received).toBeLessThan(count * (MEDIUM_BYTES + 1000))
})

test('a part of a file that is not in memory is the same as one of a file that is', async () => {
  write('cold.bin', large.subarray(0, MEDIUM_BYTES))
  const part = () => ask('/cold.bin', { range: 'bytes=300000-600000' })
  expect((await ask('/cold.bin', {}, { method: 'HEAD' })).headers.get('content-length')).toBe(String(MEDIUM_BYTES))
  const cold = await part()
  await ask('/cold.bin')
  const warm = await part()
  expect([cold.status, warm.status]).toEqual([206, 206])
  expect(cold.body.equals(large.subarray(300_000, 600_001))).toBe(true)
  expect(warm.body.equals(cold.body)).toBe(true)
})

test('a new release is seen at once', async () => {
  const other = mkdtempSync(join(tmpdir(), 'cpd-site-'))
  const alone = await startWorld()
  const route = (releaseId: string, folder: string): Route => ({
    kind: 'static',
    ...{ serviceId: 'srv-t', name: 'site', releaseId, root: folder, headers: [], rules: [] },
  })
  const read = async () => (await exchangeRaw(alone.port, 'GET /about HTTP/1.1\r\nHost: t.test\r\nConnection: close\r\n\r\n')).text
  try {
    writeFileSync(join(other, 'about.html'), 'the next one')
    await alone.publish({ 't.test': route('rel-8', root) })
    for (const _ of [1, 2]) expect(await read()).toMatch(/about us$/)
    await alone.publish({ 't.test': route('rel-9', other) })
    for (const _ of [1, 2]) expect(await read()).toMatch(/the next one$/)
  } finally {
    await alone.close()
    rmSync(other, { recursive: true, force: true })
  }
})

test('a reader that stops and leaves holds no file open', async () => {
  const client = await Bun.connect({ hostname: '127.0.0.1', port: world.port, socket: { data() {} } })
  client.pause()
  client.write('GET /large.bin HTTP/1.1\r\nHost: s.test\r\n\r\n')
  await Bun.sleep(50)
  expect(openFiles()).toContain(join(root, 'large.bin'))
  client.terminate()
  await eventually(() => !openFiles().includes(join(root, 'large.bin')))
})

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
}

test('a site can only be read', async () => {
  const { status, headers } = await ask('/', { 'content-length': '0' }, { method: 'POST' })
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})
