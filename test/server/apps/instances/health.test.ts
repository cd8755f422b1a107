import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type HealthCheck, waitUntilHealthy } from '../../../../server/apps/instances/health.ts'
import { dialTcp } from '../../../../server/platform/network/dial.ts'
import { realClock } from '../../../../server/platform/work/clock.ts'
import { freePorts } from '../../../support/free-ports.ts'

let servers: Server[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  servers = []
})

/** A server that answers request number N with `answer(N)`, or not at all. */
async function serve(port: number, answer: (count: number, request: string) => string | undefined): Promise<void> {
  let count = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      count += 1
      const reply = answer(count, bytes.toString())
      if (reply !== undefined) socket.end(reply)
    })
  })
  servers.push(server)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(port, '127.0.0.1', resolve)
  await promise
}

const status = (code: number) => `HTTP/1.1 ${code} Whatever\r\nContent-Length: 0\r\n\r\n`
const check = (changes: Partial<HealthCheck> = {}): HealthCheck => ({
  clock: realClock,
  dial: dialTcp,
  type: 'web_service',
  address: '127.0.0.1',
  port: 0,
  path: '',
  host: 'web.localhost',
  ...changes,
})
const port = () => freePorts(1)[0] ?? 0

async function isHealthyWithin(ms: number, asked: HealthCheck): Promise<boolean> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), ms)
  try {
    await waitUntilHealthy(asked, stop.signal)
    return true
  } catch (error) {
    if (stop.signal.aborted) return false
    throw error
  } finally {
    clearTimeout(timer)
  }
}

describe('without a path', () => {
  test('an app is healthy once it accepts connections', async () => {
    const asked = check({ port: port() })
    const healthy = isHealthyWithin(10_000, asked)
    await sleep(60)
    await serve(asked.port, () => undefined)
    expect(await healthy).toBe(true)
  })
  test('an app that does not listen is not healthy, and the wait ends with its signal', async () => {
    expect(await isHealthyWithin(150, check({ port: port() }))).toBe(false)
  })
})

describe('with a path', () => {
  test('two good answers in a row are asked for, by GET with the host of the service', async () => {
    const asked = check({ port: port(), path: '/health?deep=1' })
    const requests: string[] = []
    await serve(asked.port, (count, request) => {
      requests.push(request)
      return status(count === 2 ? 503 : 204)
    })
    expect(await isHealthyWithin(10_000, asked)).toBe(true)
    expect(requests).toHaveLength(4)
    expect(requests[0]).toMatch(/^GET \/health\?deep=1 HTTP\/1\.1\r\nHost: web\.localhost\r\n/)
  })
  test.each([200, 204, 301, 399])('%d is a good answer', async (code) => {
    const asked = check({ port: port(), path: '/' })
    await serve(asked.port, () => status(code))
    expect(await isHealthyWithin(10_000, asked)).toBe(true)
  })
  test.each([100, 400, 404, 500, 503])('%d is none', async (code) => {
    const asked = check({ port: port(), path: '/' })
    await serve(asked.port, () => status(code))
    expect(await isHealthyWithin(150, asked)).toBe(false)
  })
  test('an answer in single bytes is read', async () => {
    const asked = check({ port: port(), path: '/' })
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      void (async () => {
        for (const byte of status(200)) {
          if (!socket.writable) return
          socket.write(byte)
          await sleep(1)
        }
        socket.end()
      })()
    })
    servers.push(server)
    server.listen(asked.port, '127.0.0.1')
    expect(await isHealthyWithin(10_000, asked)).toBe(true)
  })
  test.each(['', 'SSH-2.0-OpenSSH\r\n', 'HTTP/2 200\r\n\r\n'])('%j is no answer of HTTP', async (words) => {
    const asked = check({ port: port(), path: '/' })
    await serve(asked.port, () => words)
    expect(await isHealthyWithin(150, asked)).toBe(false)
  })
  test('an app that accepts and never answers lets the wait end with its signal', async () => {
    const asked = check({ port: port(), path: '/' })
    await serve(asked.port, () => undefined)
    expect(await isHealthyWithin(150, asked)).toBe(false)
  })
  test('a signal that has aborted before ends the wait at once, also while nobody answers', async () => {
    const asked = check({ port: port(), path: '/' })
    await serve(asked.port, () => undefined)
    await expect(waitUntilHealthy(asked, AbortSignal.abort(new Error('stop')))).rejects.toThrow()
  })
})

test('a worker is healthy when it has lived for a while', async () => {
  const begunAt = performance.now()
  expect(await isHealthyWithin(10_000, check({ type: 'background_worker' }))).toBe(true)
  expect(performance.now() - begunAt).toBeGreaterThanOrEqual(990)
})

describe('who listens', () => {
  test('a port on which another listens is not the instance', async () => {
    const at = port()
    await serve(at, () => status(200))
    expect(await isHealthyWithin(2000, check({ port: at, listens: async () => true }))).toBe(true)
    expect(await isHealthyWithin(200, check({ port: at, listens: async () => false }))).toBe(false)
  })
})
