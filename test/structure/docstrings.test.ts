import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isDocumented, undocumentedIn } from './docstrings.ts'
import { sourcesIn } from './sources.ts'

const sources = ['server', 'shared'].flatMap((layer) =>
  sourcesIn(join(import.meta.dirname, '../..', layer)).map(({ path, lines }) => ({ path: `${layer}/${path}`, lines })),
)

test('every function that the contract, a store or an engine port exports says what it gives', () => {
  expect(sources.filter(({ path }) => isDocumented(path)).flatMap(undocumentedIn)).toEqual([])
})

test('functions and methods of ports are told from what is no function, and from what is not exported', () => {
  const lines = [
    '/** Said. */',
    'export const said = () => 1',
    'export const bare = () => 2',
    'export const figure = 3',
    'const own = () => 4',
    'export async function alsoBare() {}',
    'export interface Port {',
    '  readonly name: string',
    '  /** Said. */',
    '  start(): void',
    '  stop(): void',
    '}',
  ]
  const names = (path: string) => undocumentedIn({ path, lines }).map((one) => one.split(' ')[1])
  expect(names('server/apps/disks/store.ts')).toEqual(['bare', 'alsoBare'])
  expect(names('server/engines/port/port.ts')).toEqual(['bare', 'alsoBare', 'Port.stop'])
})

test.each([
  ['shared/id.ts', true],
  ['server/apps/workloads/instance-store.ts', true],
  ['server/runtime/workloads/store.ts', true],
  ['server/engines/port/volumes.ts', true],
  ['server/apps/disks/rules.ts', false],
  ['server/apps/disks/restore.ts', false],
])('%s is documented: %s', (path, is) => {
  expect(isDocumented(path)).toBe(is)
})
