import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Builder } from '../../../../server/builders/port.ts'
import { openTreeBuilder } from '../../../../server/builders/tree/builder.ts'
import { type Paths, pathsOf } from '../../../../server/platform/paths.ts'

let paths: Paths
let builder: Builder
let inUse: string[] | undefined
let asked = 0

beforeEach(async () => {
  paths = pathsOf(mkdtempSync(join(tmpdir(), 'tidy-')))
  builder = await openTreeBuilder({
    paths,
    config: { CP_BUILD_PATH: [], CP_TOOLCHAINS_MAX_MB: 4096, buildEnv: {} },
    hasOwnNetworks: true,
    fetchUid: () => 65_534,
    foldersInUse() {
      asked += 1
      return inUse
    },
    whileThereIsRoom: (act) => act(new AbortController().signal),
    keep: async () => '',
  })
})
afterEach(() => rmSync(paths.data, { recursive: true }))

function place(name: string, usedAt: number): void {
  mkdirSync(join(paths.toolchains, name))
  utimesSync(join(paths.toolchains, name), usedAt, usedAt)
}

test('what no release stands on goes, and nobody is asked while nothing is old enough', async () => {
  place('node-24.0.0', Date.now() / 1000)
  await builder.tidy()
  expect(asked).toBe(0)
  place('node-20.0.0', 1)
  place('node-22.0.0', 2)
  inUse = undefined
  await builder.tidy()
  expect(readdirSync(paths.toolchains)).toHaveLength(3)
  inUse = [join(paths.toolchains, 'node-22.0.0'), '/usr/local/go']
  await builder.tidy()
  expect(readdirSync(paths.toolchains).sort()).toEqual(['node-22.0.0', 'node-24.0.0'])
})
