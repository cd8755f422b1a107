import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commentsIn, isDangling } from './comments.ts'
import { copiedLines } from './copies.ts'
import { functionLines } from './functions.ts'
import { measure } from './measured.ts'
import { limits, stillBeyond } from './remaining.ts'

const measured = measure(join(import.meta.dirname, '../..'))

const kinds = [
  ['no more than six lines of a hundred are comments', 'commentPercent'],
  ['every comment is a sentence with a subject', 'danglingComments'],
  ['no folders import each other, types included', 'knottedFolders'],
  ['no file has more than four hundred lines', 'fileLines'],
] as const

test.each(kinds)('%s', (_, kind) => {
  const beyond = Object.entries(measured[kind]).filter(([unit, figure]) => figure > Math.max(limits[kind], stillBeyond[kind][unit] ?? 0))
  expect(Object.fromEntries(beyond)).toEqual({})
})

test('comments are told from code', () => {
  const lines = ['// One run', '// of lines.', 'const url = "http://x"', '/** A block', ' * of two. */', 'x() // aside', '/* Of a kind */']
  const comments = commentsIn(lines)
  expect(comments).toEqual([
    { line: 1, lineCount: 2, text: 'One run of lines.' },
    { line: 4, lineCount: 2, text: 'A block of two.' },
    { line: 7, lineCount: 1, text: 'Of a kind' },
  ])
  expect(comments.filter(isDangling).map(({ line }) => line)).toEqual([7])
  expect(['Its place.', 'Offsets.', 'Ask first.'].some((text) => isDangling({ line: 1, lineCount: 1, text }))).toBe(false)
})

test('ten equal lines of code are copies wherever comments and blank lines stand', () => {
  const code = Array.from({ length: 12 }, (_, at) => `line(${at})`)
  const other = ['import { a } from "./a.ts"', ...code.slice(0, 10).flatMap((line) => ['// why', '', line]), 'end()']
  const copies = copiedLines([
    { path: 'a.ts', lines: code },
    { path: 'b.ts', lines: other },
  ])
  expect(copies).toBe(20)
  expect(copiedLines([{ path: 'a.ts', lines: code }])).toBe(0)
})

test('functions are counted where they have a block or a name', () => {
  const text = 'const one = () => 1\nfunction two() {\n  return [1].map((n) => n)\n}\nclass C {\n  three() {\n  }\n}\n'
  expect(functionLines(text)).toEqual([1, 3, 2])
})
