import { describe, expect, test } from 'vitest'
import { commandLine } from '../../cli/shell/command-line.ts'
import { createEscape } from '../../cli/shell/escape.ts'
import { createOutgoingInput } from '../../cli/shell/input.ts'
import { shellFrameBytes, shellInputWindowBytes } from '../../shared/shell.ts'

describe('the escape', () => {
  const typed = (...keys: string[]) => {
    const find = createEscape()
    const results = keys.map((key) => find(Buffer.from(key)))
    return { text: results.map(({ bytes }) => Buffer.from(bytes).toString()).join(''), isLeaving: results.some((one) => one.isLeaving) }
  }

  test.each([
    [['ls\r', '~.'], 'ls\r', true],
    [['ls\r', '~', '.'], 'ls\r', true],
    [['~.'], '', true],
    [['ls ~.'], 'ls ~.', false],
    [['\r~~'], '\r~', false],
    [['\r~~.'], '\r~.', false],
    [['cd ~/x\r'], 'cd ~/x\r', false],
    [['\r~/bin\r'], '\r~/bin\r', false],
    [['\r~\r~.'], '\r~\r', true],
  ] as const)('in %j passes %j on, and leaves: %j', (keys, text, isLeaving) => {
    expect(typed(...keys)).toEqual({ text, isLeaving })
  })
})

test.each([
  [['echo $HOME | wc -c'], 'echo $HOME | wc -c'],
  [['ls', '-la', 'a b'], "ls -la 'a b'"],
  [['echo', "it's", '$HOME', ''], "echo 'it'\\''s' '$HOME' ''"],
])('the words %j are the command %s', (words, command) => {
  expect(commandLine(words)).toBe(command)
})

test('no more is sent than may be under way, and the rest when there is room', () => {
  const sent: number[] = []
  const waits: boolean[] = []
  const input = createOutgoingInput({ send: (frame) => sent.push(frame.length), setWaiting: (isWaiting) => waits.push(isWaiting) })
  const total = () => sent.reduce((sum, length) => sum + length, 0)
  input.send(new Uint8Array(2 * shellInputWindowBytes))
  expect(total()).toBe(shellInputWindowBytes)
  expect(waits).toEqual([true])
  input.taken(shellFrameBytes)
  expect(total()).toBe(shellInputWindowBytes + shellFrameBytes)
  input.taken(shellInputWindowBytes)
  expect(total()).toBe(2 * shellInputWindowBytes)
  expect(waits).toEqual([true, false])
  expect(Math.max(...sent)).toBe(shellFrameBytes)
})
