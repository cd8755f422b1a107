import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Builder } from '../../../../server/builders/port.ts'
import { openTreeBuilder } from '../../../../server/builders/tree/builder.ts'
import { type Paths, pathsOf } from '../../../../server/platform/paths.ts'
import { type PackageRegistry, startNpmRegistry } from '../../../support/npm-registry.ts'

let registry: PackageRegistry
let paths: Paths
let builder: Builder

beforeAll(async () => {
  registry = await startNpmRegistry(['1.2.0', '2.4.0'], ['6.14.18'])
  paths = pathsOf(mkdtempSync(join(tmpdir(), 'plan-')))
  mkdirSync(paths.uploads)
  builder = await openTreeBuilder({
    paths,
    config: { CP_BUILD_PATH: [], CP_TOOLCHAINS_MAX_MB: 4096, buildEnv: { npm_config_registry: registry.url } },
    hasOwnNetworks: true,
    fetchUid: () => 65_534,
    foldersInUse: () => [],
    whileThereIsRoom: (act) => act(new AbortController().signal),
    keep: async () => '',
  })
})
afterAll(async () => {
  await registry.stop()
  rmSync(paths.data, { recursive: true })
})

const plan = (env: Record<string, string>) =>
  builder.plan({
    source: {
      sha256: '',
      async unpack(into) {
        mkdirSync(into)
        writeFileSync(join(into, 'package.json'), '{"engines":{"node":"^1"},"scripts":{"start":"node server.js"}}')
      },
    },
    ...{ rootDir: '', settings: { type: 'web_service' }, env, signal: new AbortController().signal },
  })

test('a plan tells what a build would fetch, and fetches nothing but the list', async () => {
  expect((await plan({})).notes).toContain('Node.js 1.2.0 would be fetched.')
  expect(registry.asked).toEqual([`node-linux-${process.arch}`])
  expect(readdirSync(paths.toolchains)).toEqual([`node-linux-${process.arch}.json`])
})

test('the variables of the service count, and what is there already is not fetched', async () => {
  expect((await plan({ NODE_VERSION: '2' })).notes).toContain('Node.js 2.4.0 would be fetched.')
  mkdirSync(join(paths.toolchains, 'node-2.4.0'))
  const { notes } = await plan({ NODE_VERSION: '2' })
  expect(notes.join('\n')).toMatch(/^Runtime: Node\.js 2\.4\.0 \(.*\/toolchains\/node-2\.4\.0\/bin\)\.$/m)
  expect(notes.join('\n')).not.toContain('Node.js 2.4.0 would be fetched')
})

test('what a build would be refused for is told as well', async () => {
  await expect(plan({ NODE_VERSION: '3' })).rejects.toThrow('there is none; the nearest is 2.4.0')
})
