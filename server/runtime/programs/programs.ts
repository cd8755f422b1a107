import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, messageOf } from '../../../shared/error.ts'
import { syncFolder } from '../../platform/files/replace-file.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { isCompiled } from '../../platform/process/self.ts'
import { runProcess } from '../../platform/process/spawn.ts'
import { runSystemTool } from '../../platform/process/system-tools.ts'
import type { EmbeddedProgram } from './embedded.ts'
import { foundPrograms, majorOf, namedPrograms, type OwnProgram } from './own.ts'
import { findPooler } from './pooler.ts'
import type { Program, ProgramKind, Programs } from './port.ts'

export interface ProgramsOptions {
  /** The folder that is unpacked into, which nobody but us may change. */
  folder: string
  embedded: readonly EmbeddedProgram[]
  postgresDirs: readonly string[]
  valkey: string | undefined
  /** Path of a PgBouncer in place of the one that packages put there. */
  pooler?: string | undefined
  /** Removes nothing of others: for a version on trial, beside one that serves and may be about to run what it has unpacked. */
  isOnTrial?: boolean
  onProblem(problem: string): void
}

const kinds: readonly ProgramKind[] = ['postgres', 'valkey']
const UNFINISHED = '.new'
const UNPACK_TIMEOUT_MS = 120_000
const SERVERS: Readonly<Record<ProgramKind, string>> = { postgres: 'bin/postgres', valkey: 'bin/valkey-server' }

interface Listed {
  available: Programs['available']
  own: readonly OwnProgram[]
  inside: readonly Program[]
  problems: readonly string[]
}

/** The operator's own come first, then what is inside, and what the machine has only where nothing is. A setting that names none is told in `problems`. */
export async function listPrograms({
  embedded,
  ...named
}: Omit<ProgramsOptions, 'folder' | 'pooler' | 'isOnTrial' | 'onProblem'>): Promise<Listed> {
  const inside = embedded.map(
    (program): Program => ({
      ...{ kind: program.kind, name: program.name, version: program.version },
      ...{ major: majorOf(program.version), source: 'embedded', server: SERVERS[program.kind] },
    }),
  )
  const { found, problems } = await namedPrograms(named)
  const lacking = kinds.filter((kind) => ![...found, ...inside].some((program) => program.kind === kind))
  const own = [...found, ...(await foundPrograms(lacking))]
  return { available: (kind) => available({ own, inside }, kind), own, inside, problems }
}

/** Makes away with what an earlier start or version has left, too. */
export async function openPrograms({ folder, pooler, isOnTrial = false, onProblem, ...listed }: ProgramsOptions): Promise<Programs> {
  const { available, own, inside, problems } = await listPrograms(listed)
  for (const problem of problems) onProblem(problem)
  if (!isOnTrial) await sweep(folder, inside)
  const unpack = unpacker(folder, listed.embedded)
  const ownOf = (name: string): OwnProgram | undefined => own.find((program) => program.name === name)
  return {
    available,
    pooler: await findPooler(pooler),
    folder: (name) => ownOf(name)?.folder ?? join(folder, name),
    ensure: async (name) => ownOf(name)?.folder ?? (await unpack(name)),
  }
}

/** One for each major version: the operator's own in place of ours. Valkey reads what older versions wrote, so nobody chooses one of it. */
function available({ own, inside }: Record<'own' | 'inside', readonly Program[]>, kind: ProgramKind): Program[] {
  const theirs = own.filter((program) => program.kind === kind)
  const ofKind = kind === 'valkey' && theirs.length > 0 ? theirs : [...theirs, ...inside.filter((program) => program.kind === kind)]
  const first = ofKind.filter(({ major }, index) => ofKind.findIndex((other) => other.major === major) === index)
  return first.toSorted((one, other) => Number(other.major) - Number(one.major))
}

function unpacker(folder: string, embedded: readonly EmbeddedProgram[]): (name: string) => Promise<string> {
  const underWay = new Map<string, Promise<void>>()
  return async (name) => {
    const into = join(folder, name)
    const program = embedded.find((one) => one.name === name)
    if (program === undefined) throw new AppError('not_found', `There are no programs ${name} here`)
    if (existsSync(into)) return into
    const begun = underWay.get(name) ?? unpackInto(program.archive, into).finally(() => underWay.delete(name))
    underWay.set(name, begun)
    await begun
    return into
  }
}

const unpackCommand = isCompiled ? [process.execPath, 'unpack'] : [process.execPath, join(import.meta.dirname, 'unpack.ts')]

async function unpackInto(archive: string, into: string): Promise<void> {
  const fresh = `${into}.${crypto.randomUUID()}${UNFINISHED}`
  try {
    const { exitCode, stderr } = await runProcess([...unpackCommand, archive, fresh], { timeoutMs: UNPACK_TIMEOUT_MS })
    if (exitCode !== 0) throw new Error(stderr.trim().split('\n').at(-1) ?? 'it was ended')
    // A loss of power after the name is given must not leave files that are empty under it.
    await runSystemTool(['sync', '-f', fresh], { timeoutMs: UNPACK_TIMEOUT_MS })
    await rename(fresh, into)
    syncFolder(dirname(into))
  } catch (cause) {
    await removeTree(fresh)
    if (existsSync(into)) return
    throw new AppError('unavailable', `The programs of databases could not be unpacked: ${messageOf(cause)}`, { cause })
  }
}

/** Removes what was begun, and what an earlier version had inside unless something of it still runs. */
async function sweep(folder: string, inside: readonly Program[]): Promise<void> {
  if (!existsSync(folder)) return
  const known = new Set(inside.map(({ name }) => name))
  const stale = readdirSync(folder).filter((name) => !known.has(name))
  if (stale.length === 0) return
  const running = runningPrograms()
  for (const name of stale) if (!running.some((path) => path.startsWith(`${join(folder, name)}/`))) await removeTree(join(folder, name))
}

function runningPrograms(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readlinkSync(`/proc/${pid}/exe`)]
      } catch {
        // A process may end, or be one that we may not look into.
        return []
      }
    })
}
