import { expect, test } from 'vitest'
import type { HttpServer } from '../../../../server/http/requests/parts.ts'
import { createSocketHub, type SocketEvents } from '../../../../server/http/sockets/sockets.ts'
import { closed, openSocket } from '../../../support/socket.ts'

/** A server whose every path is a socket of one hub. */
function serveHub(timings: { heartbeatMs: number; recheckMs: number }, isAllowed: () => boolean = () => true) {
  const hub = createSocketHub(timings)
  const ends: string[] = []
  const events: SocketEvents = { opened: () => {}, closed: () => ends.push('closed') }
  const server: HttpServer = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    websocket: hub.handler,
    fetch(request): Response | undefined {
      try {
        hub.upgrade(server, request, { headers: { 'X-Request-Id': 'id' }, events, isAllowed })
        return undefined
      } catch {
        return new Response(null, { status: 503 })
      }
    },
  })
  return { hub, ends, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

test('a heartbeat is a ping frame, never a text frame', async () => {
  const { url, stop } = serveHub({ heartbeatMs: 20, recheckMs: 1000 })
  const socket = await openSocket(url, {})
  const texts: unknown[] = []
  socket.addEventListener('message', ({ data }) => texts.push(data))
  await new Promise<void>((resolve) => socket.addEventListener('ping' as 'message', () => resolve(), { once: true }))
  expect(texts).toEqual([])
  socket.close()
  await stop()
})

test('the right to a socket is looked at again and again', async () => {
  let isAllowed = true
  const { url, ends, hub, stop } = serveHub({ heartbeatMs: 1000, recheckMs: 20 }, () => isAllowed)
  const socket = await openSocket(url, {})
  const ended = closed(socket)
  isAllowed = false
  expect((await ended).code).toBe(1008)
  expect(ends).toEqual(['closed'])
  expect(hub.openCount()).toBe(0)
  await stop()
})

test('a hub that is closing lets nobody in', async () => {
  const { url, hub, stop } = serveHub({ heartbeatMs: 1000, recheckMs: 1000 })
  hub.closeAll()
  await expect(openSocket(url, {})).rejects.toThrow()
  await stop()
})
