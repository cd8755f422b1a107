import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { libraries, moreLibraries, packageVersion } from '../../../../.scripts/programs/parts.ts'
import { glibcHere, glibcProblem, neededGlibc } from '../../../../server/boot/commands/glibc.ts'
import { embedded } from '../../../../server/runtime/programs/embedded.ts'
import { isOlder } from '../../../../server/runtime/programs/own.ts'
import { openPrograms } from '../../../../server/runtime/programs/programs.ts'

let dir: string
let postgres: string
let valkey: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bundle-'))
  const programs = await openPrograms({ folder: dir, embedded, postgresDirs: [], valkey: undefined, onProblem() {} })
  const folderOf = (kind: 'postgres' | 'valkey') => programs.ensure(programs.available(kind)[0]?.name ?? '')
  postgres = await folderOf('postgres')
  valkey = await folderOf('valkey')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

interface Listed {
  components: { name: string; version: string; purl: string; licenses: { expression: string }[] }[]
}
const partsIn = (folder: string) => (JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as Listed).components

test('every library that comes along is a part with a version and a licence, and so is what is linked in', () => {
  const known = new Set(['libpq.so.5', ...[...libraries, ...moreLibraries].flatMap(({ files }) => files)])
  expect(readdirSync(join(postgres, 'lib')).filter((name) => /\.so\.\d/.test(name) && !known.has(name))).toEqual([])
  const parts = partsIn(postgres)
  for (const { name, licence } of [...libraries, ...moreLibraries])
    expect(parts.find((part) => part.name === name)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d/),
      licenses: [{ expression: licence }],
    })
  expect(parts.map(({ name }) => name).slice(0, 2)).toEqual(['postgresql', 'pgvector'])
  expect(partsIn(valkey).map(({ name }) => name)).toEqual(['valkey', 'lua'])
})

test('a library tells its version by the name of its debugging symbols', () => {
  expect(packageVersion('\0libssl.so.3.5.5-3.5.5-2.el9_8.x86_64.debug\0')).toBe('3.5.5')
  expect(packageVersion('\0libkeyutils.so.1.10-1.6.3-1.el9.aarch64.debug\0')).toBe('1.6.3')
  expect(packageVersion('\0e79a3f9e9f0f7beab24c8572bfcc7aceccfde1.debug\0')).toBeUndefined()
})

test('nothing refers to a newer glibc than the doctor asks for', async () => {
  const files = [...['bin', 'lib'].flatMap((name) => filesIn(join(postgres, name))), ...filesIn(join(valkey, 'bin'))]
  const versions = new Set(files.flatMap((file) => readFileSync(file, 'latin1').match(/GLIBC_2\.\d+/g) ?? []))
  expect([...versions].filter((version) => isOlder(neededGlibc, version.slice('GLIBC_'.length)))).toEqual([])
  expect(glibcProblem(await glibcHere())).toBeUndefined()
  expect(glibcProblem('2.31')).toBe('it needs glibc 2.34, and this machine has 2.31')
  expect(glibcProblem(undefined)).toContain('does not tell')
})

const filesIn = (folder: string): string[] => readdirSync(folder).map((name) => join(folder, name))
