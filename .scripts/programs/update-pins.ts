/**
 * Looks for newer releases of what the programs of databases are put together from, downloads them for each architecture, writes down their
 * hashes in pins.ts, and puts the programs together from them. What comes of it is to be looked at, tested and committed by a person.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { downloadUnpinned, wheels, wheelsFor } from './fetch.ts'
import { byAge, nameOf, newestOf, type Published, postgresOf, rewritten, versionOf, type WheelName } from './newer.ts'
import { type Pins, pins, versions } from './pins.ts'
import { run } from './run.ts'

const FILE = join(import.meta.dirname, 'pins.ts')
const NEWEST = join(import.meta.dirname, '../../server/runtime/programs/newest.ts')

const python = Bun.which('python3') ?? ''
type Change = readonly [from: string, to: string]

function main(): void {
  if (python === '') throw new Error('There is no python3, whose pip looks for releases.')
  const [first] = Object.values(pins)
  if (first === undefined) throw new Error('Nothing is pinned.')
  const newest = newestOf(first, publishedOf(first))
  const changes = [...Object.values(pins).flatMap((own) => wheelChanges(own, newest)), ...Object.values(pins).flatMap(packageChanges)]
  if (changes.length === 0) {
    console.log('Everything that is pinned is the newest.')
    return
  }
  writeFileSync(FILE, rewritten(readFileSync(FILE, 'utf8'), [...changes, ...versionChanges(newest)]))
  console.log(`\nPutting together what is pinned now, as a build does; then look at ${NEWEST} and NOTICES.md, run the tests, and commit.`)
  // The pins were read when this began.
  console.log(run([process.execPath, join(import.meta.dirname, 'programs.ts')]))
}

/** What pip would install, asked of each by its name. */
const publishedOf = (own: Pins): Published =>
  Object.fromEntries(wheels.map((name) => [name, versionsOnPypi(nameOf(own[name]), own.platforms)])) as Record<WheelName, string[]>

function versionsOnPypi(name: string, platforms: readonly string[]): string[] {
  const said = run([python, '-m', 'pip', 'index', 'versions', '--disable-pip-version-check', ...wheelsFor(platforms), name])
  return /^Available versions: (.+)$/m.exec(said)?.[1]?.split(', ') ?? []
}

function wheelChanges(own: Pins, newest: Record<WheelName, string>): Change[] {
  return wheels.flatMap((name) => {
    const { release, sha256 } = own[name]
    if (byAge(versionOf(own[name]), newest[name]) === 0) return []
    const wanted = `${nameOf(own[name])}==${newest[name]}`
    const held = hashOf(wanted, own.platforms)
    console.log(`${release} → ${newest[name]}  sha256:${held}`)
    return [[`release: '${release}', sha256: '${sha256}'`, `release: '${wanted}', sha256: '${held}'`] as const]
  })
}

function hashOf(release: string, platforms: readonly string[]): string {
  const into = mkdtempSync(join(tmpdir(), 'cpd-pin-'))
  try {
    return createHash('sha256')
      .update(readFileSync(downloadUnpinned(python, { release, platforms, into })))
      .digest('hex')
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

/** npm keeps the integrity of what is published. Its newest is of the tag that follows PostgreSQL's newest, which are betas. */
function packageChanges({ more }: Pins): Change[] {
  const name = more.release.slice(0, more.release.lastIndexOf('@'))
  const tags = JSON.parse(run(['npm', 'view', '--json', name, 'dist-tags'])) as Record<string, string>
  const newest = `${name}@${tags.beta ?? tags.latest}`
  if (newest === more.release) return []
  const integrity = run(['npm', 'view', newest, 'dist.integrity']).trim()
  console.log(`${more.release} → ${newest}  ${integrity}`)
  return [
    [more.release, newest],
    [more.integrity, integrity],
  ]
}

/** That of pgvector is told by no release. */
function versionChanges(newest: Record<WheelName, string>): Change[] {
  const told = [
    ['postgres', versions.postgres, postgresOf(newest.postgres)],
    ['valkey', versions.valkey, newest.valkey.split('.').slice(0, 3).join('.')],
  ] as const
  return told.flatMap(([name, from, to]) => (from === to ? [] : [[`${name}: '${from}'`, `${name}: '${to}'`] as const]))
}

if (import.meta.main) main()
