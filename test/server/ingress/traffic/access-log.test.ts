import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ClientSide } from '../../../../server/ingress/exchange/exchange.ts'
import { RequestNote } from '../../../../server/ingress/exchange/request-note.ts'
import { parseRequestHead } from '../../../../server/ingress/message/request-head.ts'
import { AccessLog } from '../../../../server/ingress/traffic/access-log.ts'
import { type AccessRecord, accessRecord, parseAccessRecord } from '../../../../server/ingress/traffic/access-record.ts'
import { randomFrom } from '../random.ts'
import { connectRaw, eventually, exchangeRaw, ok, proxyTo, type RawUpstream, startRawUpstream, startWorld, type World } from '../world.ts'

let world: World
let upstream: RawUpstream

beforeEach(async () => {
  world = await startWorld({ accessLog: 'access', trustedProxies: ['127.0.0.2'] })
  upstream = startRawUpstream((socket, text) => {
    if (text.includes('/short')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this')
    else if (text.includes('\r\n\r\n') && !text.includes('/silent')) socket.end(ok('fine'))
  })
  await world.publish({ 'shop.test': proxyTo(upstream.port) })
})

afterEach(async () => {
  upstream.stop()
  await world.close()
})

const linesIn = (dir: string): string[] =>
  readdirSync(dir)
    .sort()
    .flatMap((name) => readFileSync(join(dir, name), 'latin1').split('\n').slice(0, -1))
const dir = (): string => join(world.dir, 'access')
const written = (): string[] => (existsSync(dir()) ? linesIn(dir()) : [])

async function records(count: number): Promise<AccessRecord[]> {
  await eventually(() => written().length >= count)
  return written().map((line) => parseAccessRecord(line) as AccessRecord)
}
const ask = (path: string, ...fields: string[]) =>
  exchangeRaw(
    world.port,
    `POST ${path} HTTP/1.1\r\nHost: shop.test:80\r\nConnection: close\r\nContent-Length: 2\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\nhi`,
  )

describe('a line', () => {
  test('tells of a request what it was and how it ended', async () => {
    await ask('/a/b?c=d', 'User-Agent: test/1', 'Referer: http://elsewhere.test/', 'X-Request-Id: my-own-id-1')
    const [record] = await records(1)
    expect(record).toMatchObject({
      ...{ serviceId: 'srv-a', instanceId: `i-${upstream.port}`, status: 200, receivedBytes: 2, sentBytes: 4, protocol: 'HTTP/1.1' },
      ...{ address: '127.0.0.1', requestId: 'my-own-id-1', method: 'POST', host: 'shop.test', target: '/a/b?c=d' },
      ...{ userAgent: 'test/1', referer: 'http://elsewhere.test/', ending: '.' },
    })
    expect(Math.abs((record?.at ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(Number(record?.durationMs)).toBeGreaterThanOrEqual(0)
  })

  test('holds nothing of credentials', async () => {
    await ask('/', 'Authorization: Bearer planted-secret', 'Cookie: session=planted-secret', 'Proxy-Authorization: planted-secret')
    await records(1)
    expect(written().join()).not.toContain('planted-secret')
  })

  test('says who ended an answer that is not whole', async () => {
    await ask('/short')
    const client = await connectRaw(world.port)
    client.send('GET /silent HTTP/1.1\r\nHost: shop.test\r\n\r\n')
    await eventually(() => upstream.received().includes('/silent'))
    client.kill()
    expect((await records(2)).map(({ status, ending }) => [status, ending])).toEqual([
      [200, 'b'],
      [0, 'c'],
    ])
  })

  test('is written for no request of an unknown host and for none that was refused', async () => {
    await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n\r\n')
    await exchangeRaw(world.port, 'GET / HTTP/1.1\r\nHost : shop.test\r\n\r\n')
    await ask('/last')
    expect((await records(1)).map(({ target }) => target)).toEqual(['/last'])
  })

  test.each([
    ['escape sequences', 'evil \u001b[2J'],
    ['tabs', 'a\tb'],
    ['latin1 bytes', 'caf\u00e9 \u009b31m'],
    ['quotes and backslashes', '" cutOff="no\\'],
  ])('is one line of visible ASCII whatever the client sends: %s', async (_name, value) => {
    const answer = await ask('/x%0a%1b[31m"\\?q=%00', `User-Agent: ${value}`, `Referer: ${value}`)
    // A head with an escape character is refused outright.
    if (answer.text.includes(' 400 ')) return
    const [record] = await records(1)
    expect(written().length).toBe(1)
    expect(written()[0]).toMatch(/^[\t -~]*$/)
    expect(record?.target).toBe('/x%0a%1b[31m\\x22\\x5C?q=%00')
    expect(`${record?.userAgent}${record?.referer}`).not.toMatch(/["\t]/)
  })

  test('cuts what is too long', async () => {
    await ask(`/${'p'.repeat(10_000)}`, `User-Agent: ${'u'.repeat(5000)}`, `Referer: ${'r'.repeat(5000)}`)
    const [record] = await records(1)
    expect([record?.target.length, record?.userAgent.length, record?.referer.length]).toEqual([2051, 515, 1027])
    expect(record?.target.endsWith('...')).toBe(true)
  })

  test('tells who asked a trusted proxy, and of others only who they are themselves', () => {
    const head = parseRequestHead('GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 9.9.9.9, 10.0.0.7\r\n\r\n', {
      maxFields: 10,
      maxTargetBytes: 100,
    })
    const note = new RequestNote()
    note.begin(head, 'request-id')
    const addressOf = (address: string) => {
      const client = { address, isTrusted: address.startsWith('10.'), protocol: 'HTTP/1.1' } as ClientSide
      const line = accessRecord({ note, client, at: '1', durationMs: 1, isTrusted: (one) => one.startsWith('10.') })
      return (parseAccessRecord(line.trimEnd()) as AccessRecord).address
    }
    expect(addressOf('10.0.0.1')).toBe('9.9.9.9')
    expect(addressOf('8.8.8.8')).toBe('8.8.8.8')
  })

  test('that was cut short anywhere is none', async () => {
    await ask('/a', 'User-Agent: test')
    await records(1)
    const [line = ''] = written()
    for (let end = 0; end < line.length; end++) expect(parseAccessRecord(line.slice(0, end))).toBeUndefined()
  })
})

/** An access log of its own, fed with requests that nobody made. */
function fill(log: AccessLog, from: number, to: number): void {
  const head = parseRequestHead('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n', { maxFields: 10, maxTargetBytes: 100 })
  const client = { address: '127.0.0.1', isTrusted: false, protocol: 'HTTP/1.1' } as ClientSide
  for (let number = from; number < to; number++) {
    const note = new RequestNote()
    note.begin(head, `request-${number}`)
    Object.assign(note, { serviceId: `srv-${number % 2}`, status: 200 })
    log.add(note, client, 1)
  }
}

describe('files', () => {
  const options = () => ({ dir: join(world.dir, 'own'), isTrusted: () => false, log: (line: string) => world.logged.push(line) })
  const ownLines = () => linesIn(join(world.dir, 'own')).map((line) => parseAccessRecord(line))
  const idsOf = (lines: ReturnType<typeof ownLines>) => lines.flatMap((line) => (line && 'requestId' in line ? [line.requestId] : []))

  test('are for our own user alone', async () => {
    await ask('/')
    await records(1)
    expect(statSync(dir()).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dir())) expect(statSync(join(dir(), name)).mode & 0o777).toBe(0o600)
  })

  test('hold every line when the ingress has ended', async () => {
    for (let count = 0; count < 20; count++) await ask(`/${count}`)
    await world.ingress.close()
    expect(written().length).toBe(20)
  })

  test('hold each line once and in order, however many come at once', async () => {
    const log = new AccessLog(options())
    const random = randomFrom(3)
    let next = 0
    for (let round = 0; round < 50; round++) {
      const count = random(400)
      fill(log, next, next + count)
      next += count
      if (random(2) === 0) await Bun.sleep(1)
    }
    await log.close()
    const ids = idsOf(ownLines())
    const leftOut = ownLines().reduce((sum, line) => sum + (line && 'leftOut' in line ? line.leftOut : 0), 0)
    expect(ids.length + leftOut).toBe(next)
    expect(ids).toEqual(ids.toSorted((a, b) => Number(a.slice(8)) - Number(b.slice(8))))
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('what finds no room is counted, by service', async () => {
    const log = new AccessLog(options())
    fill(log, 0, 40_000)
    await Bun.sleep(300)
    fill(log, 40_000, 40_002)
    await log.close()
    const lines = ownLines()
    const leftOut = lines.flatMap((line) => (line && 'leftOut' in line ? [line] : []))
    expect(leftOut.map(({ serviceId }) => serviceId).sort()).toEqual(['srv-0', 'srv-1'])
    expect(idsOf(lines).length + leftOut.reduce((sum, line) => sum + line.leftOut, 0)).toBe(40_002)
  })

  test('together take no more than they may: the oldest go, and how many lines went is told', async () => {
    const log = new AccessLog({ ...options(), limits: { fileBytes: 10_000, totalBytes: 40_000 } })
    for (let count = 0; count < 60; count++) {
      fill(log, count * 20, count * 20 + 20)
      await Bun.sleep(1)
      if (count % 5 === 0) await log.close()
    }
    await log.close()
    const folder = join(world.dir, 'own')
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000 + 2 * 20_000)
    const lines = ownLines()
    const told = lines.reduce((sum, line) => sum + (line && 'leftOut' in line ? line.leftOut : 0), 0)
    expect(told).toBeGreaterThan(0)
    expect(idsOf(lines)).toContain('request-1199')
    expect(idsOf(lines)).not.toContain('request-0')
    expect(idsOf(lines).length + told).toBe(1200)
  })

  test('a folder that cannot be written costs lines, not requests, and is told once', async () => {
    mkdirSync(join(world.dir, 'blocked'))
    writeFileSync(join(world.dir, 'blocked', 'own'), 'a file where the folder is to be')
    const log = new AccessLog({ ...options(), dir: join(world.dir, 'blocked', 'own') })
    fill(log, 0, 5)
    await log.close()
    fill(log, 5, 10)
    await log.close()
    expect(world.logged.filter((line) => line.includes('access log cannot be written'))).toHaveLength(1)
  })
})
