import { expect, test } from 'vitest'
import { isDeeperThan, parseJson, readJsonBody } from '../../../../server/http/input/json-body.ts'

const limits = { maxBytes: 1000, deadlineMs: 50 }
const post = (body: string | ReadableStream) =>
  new Request('http://localhost/', { method: 'POST', body, headers: { 'content-type': 'application/json' } })

test('a body that does not arrive in time is given up', async () => {
  const endless = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"a":')) })
  await expect(readJsonBody(post(endless), limits)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringContaining('did not arrive'),
  })
})

test('a body is cut off at its limit without being read to its end', async () => {
  let sent = 0
  const flood = new ReadableStream({
    pull(controller) {
      sent++
      controller.enqueue(new Uint8Array(500).fill(32))
    },
  })
  await expect(readJsonBody(post(flood), limits)).rejects.toMatchObject({ code: 'payload_too_large' })
  expect(sent).toBeLessThan(20)
})

test('brackets count where they nest, not inside strings', () => {
  expect(isDeeperThan('[[[]]]', 3)).toBe(false)
  expect(isDeeperThan('[[[]]]', 2)).toBe(true)
  expect(isDeeperThan('[],[],[],[]', 1)).toBe(false)
  expect(isDeeperThan('["[[[[", "\\"[[[[", "\\\\"]', 1)).toBe(false)
  expect(isDeeperThan('["\\\\", [[', 2)).toBe(true)
  expect(isDeeperThan('"unterminated [[[[', 1)).toBe(false)
})

test('a byte order mark is no part of the JSON', () => {
  expect(parseJson(new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"a":1}')]))).toEqual({ a: 1 })
})
