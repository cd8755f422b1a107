import { existsSync } from 'node:fs'
import { embedded } from '../../runtime/programs/embedded.ts'
import { newerOf } from '../../runtime/programs/newest.ts'
import { findPooler, type Pooler } from '../../runtime/programs/pooler.ts'
import type { Program, ProgramKind } from '../../runtime/programs/port.ts'
import { listPrograms } from '../../runtime/programs/programs.ts'
import type { Config } from '../settings/config.ts'
import { glibcHere, glibcProblem } from './glibc.ts'

/** A program as the doctor tells of it, with the release that should be in its place. */
export interface ToldProgram extends Program {
  newer?: string
  problem?: string
}

type ToldPrograms = Record<ProgramKind, ToldProgram[]> & { hasZones: boolean; problems: readonly string[]; pooler: Pooler }

const ZONES = '/usr/share/zoneinfo'

export async function programsHere({
  CP_POSTGRES_DIR: postgresDirs,
  CP_VALKEY_PROGRAM: valkey,
  CP_PGBOUNCER_PROGRAM: pooler,
}: Config): Promise<ToldPrograms> {
  const { available, problems } = await listPrograms({ embedded, postgresDirs, valkey })
  const outdated = glibcProblem(await glibcHere())
  const told = (kind: ProgramKind) =>
    available(kind).map((program) => {
      const newer = newerOf(program)
      const problem = program.source === 'embedded' && kind === 'postgres' ? outdated : undefined
      return { ...program, ...(newer !== undefined && { newer }), ...(problem !== undefined && { problem }) }
    })
  return { postgres: told('postgres'), valkey: told('valkey'), hasZones: existsSync(ZONES), problems, pooler: await findPooler(pooler) }
}

export const programLines = ({ postgres, valkey, hasZones, problems, pooler }: ToldPrograms): string[] => [
  '',
  'Databases',
  ...linesOf('postgres', postgres),
  ...linesOf('valkey', valkey),
  'path' in pooler ? `  yes  pgbouncer ${pooler.version}: ${pooler.path}` : `  no   pgbouncer: ${pooler.missing}`,
  ...problems.map((problem) => `  no   ${problem}`),
  ...(hasZones ? [] : [`  old  time zones: ${ZONES} is missing, so PostgreSQL knows none by name. Install tzdata.`]),
]

function linesOf(name: string, programs: readonly ToldProgram[]): string[] {
  if (programs.length === 0)
    return [`  no   ${name}: this executable has none inside, and the machine has none. Install it, or name one by a setting.`]
  return programs.map(({ version, source, newer, problem }) => {
    const whose = source === 'embedded' ? 'this executable' : "the machine's"
    if (problem !== undefined) return `  no   ${name} ${version}: ${problem}. Name one of this machine by a setting.`
    return newer === undefined
      ? `  yes  ${name} ${version}: ${whose}`
      : `  old  ${name} ${version}: ${whose}; ${newer} mends faults that are known`
  })
}
