import { expect, test } from 'vitest'
import { KeyValueSession } from '../../../../server/ingress/key-value/session.ts'

const said = (...answers: string[]): KeyValueSession => {
  const session = new KeyValueSession()
  for (const answer of answers) session.serverSaid(Buffer.from(answer))
  return session
}

test('who is let in is told by the first answer, and by no later one', () => {
  expect(new KeyValueSession().isLetIn).toBe(false)
  expect(said('+OK\r\n').isLetIn).toBe(true)
  expect(said('%7\r\n$6\r\nserver\r\n').isLetIn).toBe(true)
  expect(said('-WRONGPASS no\r\n', '+RESET\r\n', '+OK\r\n').isLetIn).toBe(false)
})

test('a session is idle between a whole answer and the next command', () => {
  const session = said('+OK\r\n')
  expect(session.isIdle).toBe(true)
  session.clientSaid()
  expect(session.isIdle).toBe(false)
  session.serverSaid(Buffer.from('$10\r\nabc'))
  expect(session.isIdle).toBe(false)
  session.serverSaid(Buffer.from('defghij\r\n'))
  expect(session.isIdle).toBe(true)
})
