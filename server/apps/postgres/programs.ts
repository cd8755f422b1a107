import { AppError, invalidValue } from '../../../shared/error.ts'
import { defaultPostgresVersion } from '../../../shared/postgres.ts'
import type { Program } from '../../runtime/programs/port.ts'
import type { AppContext } from '../context.ts'

type Deps = Pick<AppContext, 'programs'>

/** The newest programs of a major version. @throws AppError unavailable where there are none any more. */
export function programsOf({ programs }: Deps, major: string): Program {
  const found = programs.available('postgres').find((set) => set.major === major)
  if (found !== undefined) return found
  throw new AppError('unavailable', `This server has no PostgreSQL ${major} any more. CP_POSTGRES_DIR names a folder that has it.`)
}

/** The version of a new database. @throws AppError not_configured where there is no PostgreSQL, validation_failed for another version. */
export function chooseVersion({ programs }: Deps, wanted: string | undefined): string {
  const majors = programs.available('postgres').map(({ major }) => major)
  const [newest] = majors
  if (newest === undefined)
    throw new AppError('not_configured', 'This server has no PostgreSQL. Its operator can set CP_POSTGRES_DIR to a folder that has it.')
  if (wanted === undefined || wanted === '') return majors.includes(defaultPostgresVersion) ? defaultPostgresVersion : newest
  if (majors.includes(wanted)) return wanted
  throw invalidValue('/version', `This server has no PostgreSQL ${wanted}, but ${[...new Set(majors)].join(', ')}.`)
}
