import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forbiddenTo, levels } from './structure/groups.ts'

const root = join(import.meta.dirname, '..')

interface Override {
  includes: string[]
  linter: { rules: { style?: { noRestrictedImports?: { options: { patterns: { group: string[]; message: string }[] } } } } }
}

function forbiddenIn(group: string): string[] {
  const { overrides } = JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8')) as { overrides: Override[] }
  const override = overrides.find(({ includes }) => includes.includes(`server/${group}/**`))
  const patterns = override?.linter.rules.style?.noRestrictedImports?.options.patterns ?? []
  return patterns.find(({ message }) => message.startsWith(`${group} imports`))?.group ?? []
}

test.each(levels.flat())('lint keeps %s from the groups above it and beside it', (group) => {
  expect(forbiddenIn(group)).toEqual(forbiddenTo(group).map((other) => `**/${other}/**`))
})

test('the environment is read in one file of the server, one of the CLI, and nowhere else', () => {
  const sources = ['server', 'cli', 'shared'].flatMap((layer) =>
    [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, layer) })].map((path) => `${layer}/${path}`),
  )
  const readers = sources.filter((path) => /process\.env|Bun\.env|import\.meta\.env/.test(readFileSync(join(root, path), 'utf8')))
  // The two of the doctor hold the source of an app as text.
  expect(readers.sort()).toEqual([
    'cli/base/config.ts',
    'server/boot/doctor/apps.ts',
    'server/boot/doctor/connect.ts',
    'server/boot/settings/environment.ts',
  ])
})

test('trees that tenants may have changed are removed, given away and frozen in one folder of ours, and links in them followed nowhere else', () => {
  const sources = [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, 'server') })]
  const using = (pattern: RegExp) => sources.filter((path) => pattern.test(readFileSync(join(root, 'server', path), 'utf8'))).sort()
  const inTrees = (path: string) => path.startsWith('platform/files/tree/')
  expect(using(/\brm(?:Sync)?\([^\n]*recursive: true/).filter((path) => !inTrees(path))).toEqual([
    // Folders that only root has ever written to, and what a hostile app removes of its own.
    'boot/doctor/place.ts',
    'boot/doctor/red-team/files.ts',
    'boot/upgrade/backup.ts',
    'boot/upgrade/request.ts',
    'builders/toolchains/self-toolchain.ts',
    'engines/process/network/own-networks.ts',
    'engines/process/network/shared-network.ts',
    'engines/process/records/record.ts',
  ])
  expect(using(/\blchown(?:Sync)?\b/).filter((path) => !inTrees(path))).toEqual([])
  expect(using(/import \{[^}]*\brealpath(?:Sync)?\b[^}]*\} from 'node:fs/).filter((path) => !inTrees(path))).toEqual([
    // Paths of the operator's, and releases, which are frozen.
    'boot/doctor/fill-disk.ts',
    'boot/upgrade/request.ts',
    'builders/toolchains/find-program.ts',
    'builders/toolchains/node-headers.ts',
    'engines/process/cgroups/cgroups.ts',
    'engines/process/quota/quota.ts',
    'engines/process/volumes/mount-path.ts',
    'ingress/static/open-inside.ts',
    'platform/files/mount-place.ts',
  ])
})
