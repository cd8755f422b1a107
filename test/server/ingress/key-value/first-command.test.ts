import { expect, test } from 'vitest'
import { readCommand } from '../../../../server/ingress/key-value/first-command.ts'
import { errorLine, stepFor } from '../../../../server/ingress/key-value/first-words.ts'

const array = (...words: string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

const read = (text: string) => {
  const reading = readCommand(Buffer.from(text))
  return reading.kind === 'command' ? reading.words : reading.kind
}

test('arrays and lines are read alike, and where they end is told', () => {
  expect(read(array('AUTH', 'red-a', 'päss wörd'))).toEqual(['AUTH', 'red-a', 'päss wörd'])
  expect(read('AUTH red-a "pw"\r\nPING\r\n')).toEqual(['AUTH', 'red-a', 'pw'])
  const first = array('HELLO', '3')
  expect(readCommand(Buffer.from(first + array('PING')))).toMatchObject({ bytes: first.length })
})

test('every beginning of a command is waited for', () => {
  const whole = array('AUTH', 'red-a', 'secret')
  for (let length = 1; length < whole.length; length++) expect(read(whole.slice(0, length))).toBe('incomplete')
})

test.each([
  ['*0\r\n'],
  ['*-1\r\n'],
  ['*99\r\n'],
  ['*1000000000'],
  ['*2\n$4\r\nAUTH\r\n'],
  ['*1\r\n$-1\r\n'],
  ['*1\r\n:1\r\n'],
  ['*1\r\n$999999\r\n'],
  ['*1\r\n$4\r\nPINGxx'],
  ['x'.repeat(4096)],
  [`*1\r\n$4096\r\n${'x'.repeat(4096)}`],
])('%j is refused', (text) => {
  expect(read(text)).toBe('malformed')
})

test.each([
  [['AUTH', 'red-a', 'pw'], 'enter red-a'],
  [['hello', '3', 'auth', 'red-a', 'pw', 'SETNAME', 'x'], 'enter red-a'],
  [['HELLO', '3', 'SETNAME', 'x', 'AUTH', 'red-a', 'pw'], 'enter red-a'],
  [['HELLO', '3'], 'answer -NOAUTH HELLO'],
  [['HELLO', '3', 'AUTH', 'red-a'], 'answer -NOAUTH HELLO'],
  [['AUTH', 'pw'], 'answer -WRONGPASS this address is shared'],
  [['AUTH'], 'answer -ERR wrong number'],
  [['PING'], 'answer -NOAUTH Authentication required'],
  [['CLIENT', 'SETNAME', 'x'], 'answer -NOAUTH'],
  [['QUIT'], 'leave +OK'],
])('%j: %s', (words, expected) => {
  const step = stepFor(words)
  expect(`${step.kind} ${'user' in step ? step.user : step.text}`).toContain(expected)
})

test('no name ends an error line early', () => {
  expect(errorLine('a\r\n+OK b')).toBe('-ERR a+OK b\r\n')
})
