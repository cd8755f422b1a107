import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OutgoingProblem } from '../../../../server/platform/outgoing/problem.ts'
import { type SendOptions, sendOutgoing } from '../../../../server/platform/outgoing/send.ts'
import { parseIpRange } from '../../../../shared/ip-address.ts'

let server: Server
let port: number
const seen: IncomingMessage[] = []

const answers: Record<string, (response: ServerResponse) => void> = {
  '/hello': (response) => response.end('hello'),
  '/moved': (response) => response.writeHead(302, { location: '/hello' }).end(),
  '/large': (response) => {
    const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 1)
    response.on('close', () => clearInterval(timer))
  },
  '/silent': () => {},
  '/broken': (response) => response.destroy(),
  '/nothing': (response) => response.writeHead(204).end(),
}

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request)
    answers[request.url ?? '']?.(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const named: SendOptions = { namedHosts: new Set(['localhost']), allowedRanges: [] }
const get = (path: string, options: SendOptions = named) =>
  sendOutgoing({ url: new URL(`http://localhost:${port}${path}`), method: 'GET', headers: new Headers() }, options)

async function problemOf(sent: Promise<unknown>): Promise<string> {
  const error = await sent.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof OutgoingProblem ? error.kind : String(error)
}

test('an answer comes with its status and text, and the host was told the name that was asked for', async () => {
  const response = await get('/hello')
  expect([response.status, await response.text()]).toEqual([200, 'hello'])
  expect(seen.at(-1)?.headers).toMatchObject({ host: `localhost:${port}`, 'user-agent': 'cpd', 'accept-encoding': 'identity' })
  expect((await get('/nothing')).status).toBe(204)
})

test('a redirect is an answer, and is not followed', async () => {
  const before = seen.length
  expect((await get('/moved')).status).toBe(302)
  expect(seen.length).toBe(before + 1)
})

test('what is too large, silent or broken is told as that', async () => {
  expect(await problemOf(get('/large', { ...named, maxAnswerBytes: 100_000 }))).toBe('oversized')
  expect(await problemOf(get('/silent', { ...named, timeoutMs: 200 }))).toBe('late')
  expect(await problemOf(get('/broken'))).toBe('unreachable')
})

test('who gives up gets their own reason', async () => {
  const controller = new AbortController()
  const sent = get('/silent', { ...named, signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 50)
  expect(await problemOf(sent)).toBe('Error: enough')
})

describe('DNS', () => {
  const far = (addresses: string[], more: Partial<SendOptions> = {}): Promise<Response> =>
    sendOutgoing(
      { url: new URL('https://api.example.com/hello'), method: 'GET', headers: new Headers() },
      { namedHosts: new Set(), allowedRanges: [], lookup: async () => addresses, timeoutMs: 500, ...more },
    )

  test.each([['127.0.0.1'], ['::1'], ['169.254.169.254'], ['10.0.0.1'], ['::ffff:127.0.0.1']])(
    'that leads to %s is refused',
    async (address) => {
      expect(await problemOf(far([address]))).toBe('refused')
    },
  )

  test('that changes after the check changes nothing: it is asked once, and its checked address is connected to', async () => {
    const before = seen.length
    let asked = 0
    const lookup = async () => (asked++ === 0 ? ['127.0.0.1'] : ['203.0.113.1'])
    const response = await get('/hello', { ...named, lookup })
    expect([response.status, asked, seen.length]).toEqual([200, 1, before + 1])
  })

  test('that names private addresses beside public ones leads to the public ones only', async () => {
    const allowedRanges = [parseIpRange('127.0.0.2')].filter((range) => range !== undefined)
    // 127.0.0.1 would answer; 127.0.0.2, the one that is open, does not.
    const options = { namedHosts: new Set<string>(), allowedRanges, lookup: async () => ['127.0.0.1', '127.0.0.2'] }
    const before = seen.length
    expect(await problemOf(get('/hello', options))).toBe('unreachable')
    expect(seen.length).toBe(before)
  })

  test('whose first address refuses connections leads to the next', async () => {
    const response = await get('/hello', { ...named, lookup: async () => ['127.0.0.3', '127.0.0.1'] })
    expect(response.status).toBe(200)
  })

  test('that knows no such name is told as unreachable', async () => {
    expect(await problemOf(far([]))).toBe('unreachable')
    expect(await problemOf(far([], { lookup: () => Promise.reject(new Error('ENOTFOUND')) }))).toBe('unreachable')
  })
})

test.each(['http://api.example.com/', 'ftp://localhost/', 'https://user:secret@api.example.com/'])(
  '%s is refused before anybody is asked',
  async (url) => {
    const lookup = () => Promise.reject(new Error('asked'))
    const sent = sendOutgoing(
      { url: new URL(url), method: 'GET', headers: new Headers() },
      { namedHosts: new Set(), allowedRanges: [], lookup },
    )
    expect(await problemOf(sent)).toBe('refused')
  },
)

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://localhost/',
])('%s, which is this machine, is refused unless a setting names it', async (url) => {
  const sent = sendOutgoing({ url: new URL(url), method: 'GET', headers: new Headers() }, { namedHosts: new Set(), allowedRanges: [] })
  expect(await problemOf(sent)).toBe('refused')
})
