import { expect, test } from 'vitest'
import { respondError } from '../../../../server/http/answers/respond.ts'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import type { ErrorBody } from '../../../../shared/error.ts'

const head = { requestId: 'the-request', rate: { limit: 1, remaining: 1, resetSeconds: 0 }, isHttps: false, cors: undefined }

async function shown(error: unknown): Promise<{ status: number; body: ErrorBody; log: string }> {
  let log = ''
  const response = respondError(
    head,
    error,
    createServerLog((line) => {
      log += line
    }),
  )
  return { status: response.status, body: (await response.json()) as ErrorBody, log }
}

test('an unknown error is logged with its cause, and the caller is told only where to ask', async () => {
  const { status, body, log } = await shown(new Error('select from secrets', { cause: new Error('at /var/lib') }))
  expect(status).toBe(500)
  expect(body).toEqual({ message: expect.stringContaining('the-request'), code: 'internal', id: 'the-request' })
  expect(log).toContain('select from secrets')
  expect(log).toContain('at /var/lib')
})

test('a full disk is told as what it is, and logged', async () => {
  const { status, body, log } = await shown(Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }))
  expect(status).toBe(503)
  expect(body.message).toBe("The server's disk is full. Free some space on it, then try again.")
  expect(log).toContain('database or disk is full')
})
