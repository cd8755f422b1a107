import { expect } from 'vitest'
import { type ErrorBody, type ErrorCode, errorStatus } from '../../shared/error.ts'
import type { Reply } from '../support/client.ts'

/** Every response, whatever it answers, carries these. */
export function expectConventions({ status, headers, body }: Reply): void {
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']) expect(headers.get(name)).toMatch(/^\d+$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  if (status === 429) expect(headers.get('retry-after')).toMatch(/^\d+$/)
  if (body === undefined) expect(headers.get('content-type')).toBeNull()
}

/** The one error body, at the status its code stands for, with nothing of the machine in it. */
export function expectError(reply: Reply, code: ErrorCode): ErrorBody {
  const body = reply.body as ErrorBody
  expect({ status: reply.status, code: body?.code, message: body?.message }).toMatchObject({ status: errorStatus[code], code })
  expectConventions(reply)
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(body.message.length).toBeGreaterThan(0)
  expect(body.id).toBe(reply.headers.get('x-request-id'))
  expect(Object.keys(body).filter((key) => !['message', 'code', 'id', 'details'].includes(key))).toEqual([])
  expect(JSON.stringify(body)).not.toMatch(/SELECT |INSERT |\.ts:\d|\/tmp\/|at [a-z]+ \(/)
  return body
}
