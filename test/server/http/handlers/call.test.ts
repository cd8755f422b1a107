import { expect, expectTypeOf, test } from 'vitest'
import { type AuditMomentOf, auditMomentOf } from '../../../../server/http/handlers/audit-moment.ts'
import type { Handlers } from '../../../../server/http/handlers/call.ts'
import { type OperationId, type Operations, operationIds, operationOf } from '../../../../shared/operations/all.ts'

/** Each `@ts-expect-error` is a mistake that must not compile; the compiler complains where it does. */
type One<Id extends OperationId> = Handlers<Id, null>

test('a change that is made at once has a handler that returns at once', () => {
  expectTypeOf<AuditMomentOf<Operations['deleteService']>>().toEqualTypeOf<'around'>()
  const atOnce: One<'deleteService'> = { deleteService: () => undefined }
  // @ts-expect-error What a promise does comes after the transaction.
  const waits: One<'deleteService'> = { deleteService: async () => undefined }
  // @ts-expect-error A promise of an answer is none, whatever the operation answers.
  const waitsForMore: One<'createApiKey'> = { createApiKey: async () => new Response() }
  // @ts-expect-error The transaction is open already.
  const opens: One<'deleteService'> = { deleteService: ({ change }) => change(() => undefined) }
  expect([atOnce, waits, waitsForMore, opens]).toHaveLength(4)
})

test('a change after waiting opens its transaction by itself', () => {
  expectTypeOf<AuditMomentOf<Operations['removeTwoFactor']>>().toEqualTypeOf<'in_handler'>()
  const waits: One<'removeTwoFactor'> = { removeTwoFactor: async ({ change }) => change(() => undefined) }
  // @ts-expect-error Only an operation with `webSocket` becomes one.
  const upgrades: One<'removeTwoFactor'> = { removeTwoFactor: async ({ upgrade }) => upgrade({ opened() {}, closed() {} }) }
  expect([waits, upgrades]).toHaveLength(2)
})

test('a read may wait, and changes nothing', () => {
  expectTypeOf<AuditMomentOf<Operations['listApiKeys']>>().toEqualTypeOf<'none'>()
  const waits: One<'listApiKeys'> = { listApiKeys: async () => [] }
  // @ts-expect-error There is no entry of the audit log that a change could be made with.
  const changes: One<'listApiKeys'> = { listApiKeys: ({ change }) => change(() => []) }
  expect([waits, changes]).toHaveLength(2)
})

test('a WebSocket is opened by its handler', () => {
  expectTypeOf<AuditMomentOf<Operations['openShell']>>().toEqualTypeOf<'at_upgrade'>()
  const upgrades: One<'openShell'> = { openShell: async ({ upgrade }) => upgrade({ opened() {}, closed() {} }) as undefined }
  // @ts-expect-error Its entry is written when it is opened.
  const changes: One<'openShell'> = { openShell: ({ change }) => change(() => undefined) }
  expect([upgrades, changes]).toHaveLength(2)
})

test('the server goes by the same moments as the compiler', () => {
  const moments = Object.fromEntries(operationIds.map((id) => [id, auditMomentOf(operationOf(id))]))
  const expected: {
    [Id in 'deleteService' | 'removeTwoFactor' | 'listApiKeys' | 'openShell' | 'completeOAuth']: AuditMomentOf<Operations[Id]>
  } = {
    deleteService: 'around',
    removeTwoFactor: 'in_handler',
    listApiKeys: 'none',
    openShell: 'at_upgrade',
    completeOAuth: 'in_handler',
  }
  expect(moments).toMatchObject(expected)
})
