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
  // Declarations, and the type of the log that everybody is given.
  const open = ['sql.d.ts', 'server-log.ts']
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
  // The last one holds the source of an app as text.
  expect(readers.sort()).toEqual(['cli/config.ts', 'server/config.ts', 'server/doctor/apps.ts'])
})
