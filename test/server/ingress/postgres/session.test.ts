import { expect, test } from 'vitest'
import type { CancelKey } from '../../../../server/ingress/postgres/first-packet.ts'
import { PostgresSession } from '../../../../server/ingress/postgres/session.ts'
import { errorIn, message } from '../databases/packets.ts'

const keyData = message('K', Buffer.from([0, 0, 0, 9, 1, 2, 3, 4]))
const ready = (status: string): Buffer => message('Z', status)
const begin = Buffer.concat([message('R', Buffer.alloc(4)), message('S', 'a\0b\0'), keyData, ready('I')])

function startedSession() {
  const keys: CancelKey[] = []
  const session = new PostgresSession((key) => keys.push(key))
  session.serverSaid(begin)
  return { session, keys }
}

test('the key is noted, in whatever pieces it comes', () => {
  expect(startedSession().keys).toEqual([{ processId: 9, secret: Buffer.from([1, 2, 3, 4]) }])
  const keys: CancelKey[] = []
  const session = new PostgresSession((key) => keys.push(key))
  for (const byte of begin) session.serverSaid(Buffer.from([byte]))
  expect(keys).toEqual(startedSession().keys)
  expect(session.isIdle).toBe(true)
})

test('a session is idle between transactions only', () => {
  const { session } = startedSession()
  expect(session.isIdle).toBe(true)
  session.clientSaid(message('Q', 'BEGIN\0'))
  expect(session.isIdle).toBe(false)
  session.serverSaid(Buffer.concat([message('C', 'BEGIN\0'), ready('T')]))
  expect(session.isIdle).toBe(false)
  session.clientSaid(message('Q', 'COMMIT\0'))
  session.serverSaid(ready('I'))
  expect(session.isIdle).toBe(true)
})

test('what was sent ahead is waited for', () => {
  const { session } = startedSession()
  const once = Buffer.concat([message('P', 'x'), message('B', 'y'), message('E', 'z'), message('S')])
  session.clientSaid(Buffer.concat([once, once]))
  session.serverSaid(ready('I'))
  expect(session.isIdle).toBe(false)
  session.serverSaid(ready('I'))
  expect(session.isIdle).toBe(true)
  session.clientSaid(once.subarray(0, 3))
  expect(session.isIdle).toBe(false)
})

test('the last word is said between messages alone', () => {
  const { session } = startedSession()
  expect(errorIn(session.farewell() ?? Buffer.alloc(0))).toMatchObject({ S: 'FATAL', C: '57P01' })
  session.serverSaid(message('D', 'a row').subarray(0, 7))
  expect(session.farewell()).toBeUndefined()
})

test('a row that looks like the end of a transaction is none', () => {
  const { session } = startedSession()
  session.clientSaid(message('Q', 'SELECT\0'))
  session.serverSaid(message('D', ready('I')))
  expect(session.isIdle).toBe(false)
})

test('what is not of the protocol is followed no further, and never idle', () => {
  const { session } = startedSession()
  session.serverSaid(Buffer.from([90, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73]))
  expect([session.isIdle, session.farewell()]).toEqual([false, undefined])
})
