import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { runProcess } from '../../platform/process/spawn.ts'
import { SYSTEM_PATH } from '../../platform/process/system-tools.ts'
import type { Program, ProgramKind } from './port.ts'

/** The oldest that the platform can run: see the guide on databases. */
const oldest: Readonly<Record<ProgramKind, string>> = { postgres: '14.0', valkey: '7.2' }

export interface OwnProgram extends Program {
  folder: string
}

const VERSION_TIMEOUT_MS = 5000
const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const SERVER = 'bin/postgres'

export interface NamedPrograms {
  found: OwnProgram[]
  /** Why what a setting names is not used, each as a sentence that begins with the setting. */
  problems: string[]
}

/** What is told by settings. What cannot be used is told, and keeps nothing else from running: apps need no databases of ours to start. */
export async function namedPrograms(settings: { postgresDirs: readonly string[]; valkey: string | undefined }): Promise<NamedPrograms> {
  const places = [...settings.postgresDirs.map(postgresIn), ...(settings.valkey === undefined ? [] : [valkeyAt(settings.valkey)])]
  const looked = await Promise.all(places.map(async ({ setting, ...place }) => ({ setting, program: await programAt(place) })))
  const named: NamedPrograms = { found: [], problems: [] }
  for (const { setting, program } of looked) {
    const problem = typeof program === 'string' ? program : problemBeside(program, named.found)
    if (problem !== undefined) named.problems.push(`${setting}: ${problem}`)
    else if (typeof program !== 'string') named.found.push(program)
  }
  return named
}

/** Databases are made of a major version, so a second folder of one would never be used, or in the place of the first. */
function problemBeside({ kind, major, folder }: OwnProgram, others: readonly OwnProgram[]): string | undefined {
  const other = others.find((one) => one.kind === kind && one.major === major)
  return other && `${folder} has the major version ${major} as ${other.folder} has, which is used. Name one folder for each.`
}

/** What is found where packages of distributions put it; nothing is said of what is too old. */
export async function foundPrograms(kinds: readonly ProgramKind[]): Promise<OwnProgram[]> {
  const postgres = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES).map((major) => postgresIn(join(DEBIAN_POSTGRES, major))) : []
  const servers = ['valkey-server', 'redis-server'].flatMap((name) => Bun.which(name, { PATH: SYSTEM_PATH }) ?? [])
  const places = { postgres, valkey: servers.slice(0, 1).map(valkeyAt) }
  const found = await Promise.all(kinds.flatMap((kind) => places[kind]).map((place) => programAt(place)))
  return found.filter((program) => typeof program !== 'string')
}

interface Place {
  setting: string
  kind: ProgramKind
  folder: string
  server: string
}

const postgresIn = (dir: string): Place => ({ setting: 'CP_POSTGRES_DIR', kind: 'postgres', folder: resolve(dir), server: SERVER })

const valkeyAt = (path: string): Place => ({
  setting: 'CP_VALKEY_PROGRAM',
  kind: 'valkey',
  folder: dirname(resolve(path)),
  server: basename(path),
})

/** Returns why it cannot be used, as the end of a sentence, in place of one that cannot. */
async function programAt({ kind, folder, server }: Omit<Place, 'setting'>): Promise<OwnProgram | string> {
  const path = join(folder, server)
  if (!existsSync(path)) return `there is no ${path}.`
  const said = await runProcess([path, '--version'], { timeoutMs: VERSION_TIMEOUT_MS }).catch(() => undefined)
  const version = versionIn(said?.exitCode === 0 ? said.stdout : '')
  if (version === undefined) return `${path} does not tell its version.`
  if (isOlder(version, oldest[kind])) return `${path} is version ${version}. The oldest that can be used is ${oldest[kind]}.`
  return { kind, name: `${kind}-${version}-own`, version, major: majorOf(version), source: 'own', server, folder }
}

/** The version in what `--version` prints: `postgres (PostgreSQL) 15.18 (Debian …)`, `Redis server v=7.2.4 sha=…`. */
export const versionIn = (text: string): string | undefined => /(?:\)\s|v=)(\d+(?:\.\d+)+)/.exec(text)?.[1]

export const majorOf = (version: string): string => version.split('.')[0] ?? version

export function isOlder(version: string, other: string): boolean {
  const [own, theirs] = [version, other].map((text) => text.split('.').map(Number)) as [number[], number[]]
  const at = theirs.findIndex((part, index) => part !== (own[index] ?? 0))
  return at !== -1 && (own[at] ?? 0) < (theirs[at] ?? 0)
}
