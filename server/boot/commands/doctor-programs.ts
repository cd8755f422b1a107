import { existsSync } from 'node:fs'
import { embedded } from '../../runtime/programs/embedded.ts'
import { newerOf } from '../../runtime/programs/newest.ts'
import type { Program, ProgramKind } from '../../runtime/programs/port.ts'
import { listPrograms } from '../../runtime/programs/programs.ts'
import type { Config } from '../settings/config.ts'

/** A program as the doctor tells of it, with the release that should be in its place. */
export interface ToldProgram extends Program {
  newer?: string
}

type ToldPrograms = Record<ProgramKind, ToldProgram[]> & { hasZones: boolean }

const ZONES = '/usr/share/zoneinfo'

export async function programsHere({ CP_POSTGRES_DIR: postgresDirs, CP_VALKEY_PROGRAM: valkey }: Config): Promise<ToldPrograms> {
  const { available } = await listPrograms({ embedded, postgresDirs, valkey })
  const told = (kind: ProgramKind) =>
    available(kind).map((program) => {
      const newer = newerOf(program)
      return { ...program, ...(newer !== undefined && { newer }) }
    })
  return { postgres: told('postgres'), valkey: told('valkey'), hasZones: existsSync(ZONES) }
}

export const programLines = ({ postgres, valkey, hasZones }: ToldPrograms): string[] => [
  '',
  'Databases',
  ...linesOf('postgres', postgres),
  ...linesOf('valkey', valkey),
  ...(hasZones ? [] : [`  old  time zones: ${ZONES} is missing, so PostgreSQL knows none by name. Install tzdata.`]),
]

function linesOf(name: string, programs: readonly ToldProgram[]): string[] {
  if (programs.length === 0)
    return [`  no   ${name}: this executable has none inside, and the machine has none. Install it, or name one by a setting.`]
  return programs.map(({ version, source, newer }) => {
    const whose = source === 'embedded' ? 'this executable' : "the machine's"
    return newer === undefined
      ? `  yes  ${name} ${version}: ${whose}`
      : `  old  ${name} ${version}: ${whose}; ${newer} mends faults that are known`
  })
}
