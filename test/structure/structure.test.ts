import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forbiddenTo, levels } from './groups.ts'
import { foldersOf, importsIn, knotsIn } from './imports.ts'
import { sourcesIn } from './sources.ts'

const imports = importsIn(sourcesIn(join(import.meta.dirname, '../../server')))
const groupOf = (path: string) => path.split('/')[0] ?? ''

/** Folders that still import each other. A line may be taken out, and none added. */
const knotted: string[] = []

test.each(levels.flat())('%s imports only from the groups below it', (group) => {
  const forbidden = forbiddenTo(group)
  const wrong = imports.filter(({ from, to }) => groupOf(from) === group && forbidden.includes(groupOf(to)))
  expect(wrong).toEqual([])
})

test('every part of the server stands in a group', () => {
  const loose = [...new Set(imports.map(({ from }) => groupOf(from)))].filter((group) => !(levels.flat() as string[]).includes(group))
  expect(loose).toEqual([])
})

test('no folders import each other, types included', () => {
  const found = knotsIn(foldersOf(imports)).flat()
  expect(found.filter((folder) => !knotted.includes(folder))).toEqual([])
})

test('components are told from what merely hangs on them', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['b', 'd'])],
    ['d', new Set<string>()],
  ])
  expect(knotsIn(graph)).toEqual([['b', 'c']])
})
