import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJsonBody } from '../../server/http/input/json-body.ts'
import { expectError } from '../conformance/expect-error.ts'
import { createService } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'

const IDLE_SECONDS = 4
let platform: Platform
let serviceId: string
beforeAll(async () => {
  platform = await startPlatform({ CP_UPLOAD_MAX_MB: '1' }, { idleTimeoutSeconds: IDLE_SECONDS })
  serviceId = await createService(platform, { name: 'slow' })
})
afterAll(() => platform.close())

const inFlight = (): string[] => readdirSync(platform.context.paths.uploads)

interface Stalled {
  send(bytes: string): void
  closed: Promise<void>
}

/** An upload that is announced and begun, and then goes on as slowly as the test likes. */
async function beginUpload(): Promise<Stalled> {
  const { hostname, port } = new URL(platform.url)
  const ended = Promise.withResolvers<void>()
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data() {}, close: () => ended.resolve() } })
  const head = [
    `POST /v1/services/${serviceId}/source/upload HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${platform.adminToken}`,
    'Content-Type: application/gzip',
    'Content-Length: 900000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n\u001f\u008b`)
  socket.flush()
  return {
    send(bytes) {
      socket.write(bytes)
      socket.flush()
    },
    closed: ended.promise,
  }
}

test('S20: uploads that stop arriving, or only drip, are ended and their disk space is freed, while others are served', async () => {
  const stalled = await Promise.all(Array.from({ length: 20 }, beginUpload))
  await expect.poll(() => inFlight().length, { timeout: 5000 }).toBe(20)
  const drip = setInterval(() => stalled[0]?.send('x'), 500)
  expect((await call(`${platform.url}/v1/services`, { token: platform.adminToken })).status).toBe(200)
  await Promise.all(stalled.map(({ closed }) => closed))
  clearInterval(drip)
  await expect.poll(inFlight, { timeout: 5000 }).toEqual([])
  const sources = platform.db.query('SELECT count(*) AS count FROM sources').get()
  expect(sources).toEqual({ count: 0 })
})

test('S20: an upload without an announced length is cut off at the limit', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536
      controller.enqueue(sent === 65_536 ? new Uint8Array([0x1f, 0x8b, ...new Uint8Array(65_534)]) : new Uint8Array(65_536))
    },
  })
  const reply = await call(`${platform.url}/v1/services/${serviceId}/source/upload`, {
    raw: endless,
    token: platform.adminToken,
    headers: { 'content-type': 'application/gzip' },
  }).catch((error: unknown) => error)
  // The connection may break before the answer is read, because the client never stops sending.
  if (!(reply instanceof Error)) expectError(reply as Awaited<ReturnType<typeof call>>, 'payload_too_large')
  await expect.poll(inFlight, { timeout: 5000 }).toEqual([])
  expect((await call(`${platform.url}/v1/services`, { token: platform.adminToken })).status).toBe(200)
})

test('S20: a JSON body that does not arrive in time is a bad request', async () => {
  const never = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')) })
  const request = new Request('http://x/', { method: 'POST', body: never, headers: { 'content-type': 'application/json' } })
  await expect(readJsonBody(request, { maxBytes: 1000, deadlineMs: 50 })).rejects.toMatchObject({ code: 'bad_request' })
})

test('S20: a body that is sent where none is taken, or without a credential, is not read', async () => {
  const raw = new Uint8Array(8 * 1024 * 1024)
  const headers = { 'content-type': 'application/json' }
  const outcomes = await Promise.all(
    ['/v1/services', `/v1/services/${serviceId}/source/upload`, `/v1/services/${serviceId}/env-vars`].map((path) =>
      call(platform.url + path, { method: path.endsWith('env-vars') ? 'PUT' : 'POST', raw, headers }),
    ),
  )
  for (const reply of outcomes) expectError(reply, 'unauthorized')
  expect(inFlight()).toEqual([])
})

test('S20: objects with a hundred thousand keys, long strings and long lists are refused without a word about each', async () => {
  const keys = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1]))
  const { details = [], message } = expectError(
    await call(`${platform.url}/v1/services`, { json: keys, token: platform.adminToken }),
    'validation_failed',
  )
  expect(details.length).toBeLessThanOrEqual(20)
  expect(message.length).toBeLessThan(1000)
  const many = Array.from({ length: 1001 }, (_, index) => ({ key: `K${index}`, value: 'x' }))
  const url = `${platform.url}/v1/services/${serviceId}/env-vars`
  expectError(await call(url, { method: 'PUT', json: many, token: platform.adminToken }), 'validation_failed')
  expectError(
    await call(url, { method: 'PUT', json: [{ key: 'K', value: 'x'.repeat(200_000) }], token: platform.adminToken }),
    'validation_failed',
  )
})
