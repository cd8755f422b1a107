import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import type { Actor, AnyHandler } from '../../../../server/http/handlers/call.ts'
import { createAddressReader } from '../../../../server/http/limits/client-address.ts'
import { createRateLimits } from '../../../../server/http/limits/rate-limits.ts'
import { mountAll, type OperationTable } from '../../../../server/http/mount/mount-all.ts'
import type { HttpParts } from '../../../../server/http/requests/parts.ts'
import { createSocketHub } from '../../../../server/http/sockets/sockets.ts'
import { createServerLog } from '../../../../server/platform/server-log.ts'
import { defineOperations } from '../../../../shared/operation.ts'

const logged: string[] = []
const actor: Actor = {
  type: 'user',
  id: 'usr-1',
  name: 'Ada',
  workspaceId: 'tea-1',
  role: 'admin',
  permissions: new Set(),
  scope: undefined,
}
const parts: HttpParts = {
  identify: () => ({ rateKey: 'usr-1', actorIn: () => actor }),
  audit: { record: (_, apply) => apply(), denied() {} },
  limits: createRateLimits({ requests: 0, writes: 0, deploys: 0, signIns: 0 }, Date.now),
  cors: undefined,
  idempotency: { begin: () => 'begun', finish() {}, abandon() {} },
  addressOf: createAddressReader(() => false),
  ownOrigins: () => new Set(),
  server: () => null,
  sockets: createSocketHub(),
  log: createServerLog((line) => logged.push(line)),
  errorPage: () => new Response('page'),
  isHttps: false,
  maxBodyBytes: {},
}

const table = defineOperations({
  greet: {
    method: 'GET',
    path: '/greet',
    access: 'public',
    tag: 'Test',
    summary: 'Greets',
    responses: { 200: Type.Object({ greeting: Type.String() }) },
  },
})

const mount = (operations: OperationTable, handlers: Record<string, AnyHandler<null>>) =>
  mountAll(operations, handlers, { parts, context: null }).elysia
const greet = async (handler: () => unknown) => {
  const response = await mount(table, { greet: handler as AnyHandler<null> }).fetch(new Request('http://a/greet'))
  return { status: response.status, text: await response.text() }
}

describe('the server does not start', () => {
  const handler = () => undefined

  test('when an operation has no handler', () => {
    expect(() => mount(table, {})).toThrow('operation greet has no handler')
  })

  test('when a handler has no operation', () => {
    expect(() => mount(table, { greet: handler, wave: handler })).toThrow('handler wave has no operation')
  })

  test('when an operation does not say who may call it', () => {
    const open = { greet: { ...table.greet, access: undefined } } as unknown as OperationTable
    expect(() => mount(open, { greet: handler })).toThrow('operation greet does not say who may call it')
    const odd = { greet: { ...table.greet, access: 'greetings.read' } } as unknown as OperationTable
    expect(() => mount(odd, { greet: handler })).toThrow('operation greet does not say who may call it')
  })
})

describe('an answer that breaks its schema', () => {
  test('is a 500 that says nothing of it, and is logged', async () => {
    const { status, text } = await greet(() => ({ greeting: 7, secret: 'hidden' }))
    expect(status).toBe(500)
    expect(text).not.toMatch(/greeting|hidden/)
    expect(logged.at(-1)).toContain('greet answered what its schema does not allow: /greeting')
    expect(logged.at(-1)).not.toContain('hidden')
  })

  test('is one of a status the table does not name, too', async () => {
    expect((await greet(() => undefined)).status).toBe(500)
  })
})

test('what a handler throws is not shown', async () => {
  const { status, text } = await greet(() => {
    throw new Error('SELECT secret FROM /root/path')
  })
  expect(status).toBe(500)
  expect(text).not.toMatch(/SELECT|root/)
})

test('a short host name leaves the path whole', async () => {
  expect(await greet(() => ({ greeting: 'hello' }))).toEqual({ status: 200, text: '{"greeting":"hello"}' })
})
