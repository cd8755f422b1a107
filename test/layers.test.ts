import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const low = ['engines', 'builders', 'ingress', 'http', 'process', 'files']

interface Override {
  includes: string[]
  linter: { rules: { style?: { noRestrictedImports?: { options: { patterns: { group: string[] }[] } } } } }
}

function forbiddenIn(folder: string): string[] {
  const { overrides } = JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8')) as { overrides: Override[] }
  const override = overrides.find(({ includes }) => includes.includes(`server/${folder}/**`))
  return override?.linter.rules.style?.noRestrictedImports?.options.patterns.flatMap(({ group }) => group) ?? []
}

test.each(low)('lint keeps %s from every other part of the server', (folder) => {
  const parts = readdirSync(join(root, 'server'), { withFileTypes: true }).filter(({ name }) => !low.includes(name))
  // Declarations, the type of the log that everybody is given, and pages that people read.
  const open = ['sql.d.ts', 'platform/server-log.ts', 'docs']
  const wanted = parts
    .filter(({ name }) => !open.includes(name))
    .map((entry) => (entry.isDirectory() ? `**/${entry.name}/**` : `**/${entry.name}`))
  expect(wanted.filter((pattern) => !forbiddenIn(folder).includes(pattern))).toEqual([])
})

test('the environment is read in the two files of settings and nowhere else', () => {
  const sources = ['server', 'cli', 'shared'].flatMap((layer) =>
    [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, layer) })].map((path) => `${layer}/${path}`),
  )
  const readers = sources.filter((path) => /process\.env|Bun\.env|import\.meta\.env/.test(readFileSync(join(root, path), 'utf8')))
  // The last two hold the source of an app as text.
  expect(readers.sort()).toEqual([
    'cli/config.ts',
    'server/boot/settings/config.ts',
    'server/boot/doctor/apps.ts',
    'server/boot/doctor/connect.ts',
  ])
})

test('trees that tenants may have changed are removed, given away and frozen in one folder of ours, and links in them followed nowhere else', () => {
  const sources = [...new Bun.Glob('**/*.ts').scanSync({ cwd: join(root, 'server') })]
  const using = (pattern: RegExp) => sources.filter((path) => pattern.test(readFileSync(join(root, 'server', path), 'utf8'))).sort()
  const inTrees = (path: string) => path.startsWith('files/tree/')
  expect(using(/\brm(?:Sync)?\([^\n]*recursive: true/).filter((path) => !inTrees(path))).toEqual([
    // Folders that only root has ever written to, and what a hostile app removes of its own.
    'builders/self-toolchain.ts',
    'boot/doctor/place.ts',
    'boot/doctor/red-team/files.ts',
    'engines/process/network/own-networks.ts',
    'engines/process/network/shared-network.ts',
    'engines/process/record.ts',
    'boot/upgrade/backup.ts',
    'boot/upgrade/request.ts',
  ])
  expect(using(/\blchown(?:Sync)?\b/).filter((path) => !inTrees(path))).toEqual([])
  expect(using(/import \{[^}]*\brealpath(?:Sync)?\b[^}]*\} from 'node:fs/).filter((path) => !inTrees(path))).toEqual([
    // Paths of the operator's, and releases, which are frozen.
    'builders/toolchains.ts',
    'runtime/space/quota.ts',
    'apps/disks/place.ts',
    'boot/doctor/fill-disk.ts',
    'engines/process/cgroups.ts',
    'platform/files/mount-place.ts',
    'ingress/static/open-inside.ts',
    'boot/upgrade/request.ts',
  ])
})
