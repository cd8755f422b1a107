import { invalidValue } from '../../../shared/error.ts'
import { slugify } from '../../../shared/slug.ts'
import { nameProblem } from './roles.ts'

/** PostgreSQL cuts names off behind so many bytes. */
const MOST = 63
const USER_SUFFIX = '_user'

export interface SqlNames {
  databaseName: string
  databaseUser: string
}

/** What a new database and its first role are called. @throws AppError validation_failed naming the field. */
export function namesOf({ name, databaseName, databaseUser }: { name: string; databaseName?: string; databaseUser?: string }): SqlNames {
  const database = databaseName || nameFrom(name)
  const user = databaseUser || `${database.slice(0, MOST - USER_SUFFIX.length)}${USER_SUFFIX}`
  refuseBad('/databaseName', database)
  refuseBad('/databaseUser', user)
  return { databaseName: database, databaseUser: user }
}

function nameFrom(name: string): string {
  const plain = slugify(name).replaceAll('-', '_').slice(0, MOST)
  if (plain === '' || /^\d/.test(plain) || nameProblem(plain) !== undefined) return `db_${plain}`.slice(0, MOST)
  return plain
}

function refuseBad(field: string, name: string): void {
  const problem = nameProblem(name)
  if (problem !== undefined) throw invalidValue(field, problem)
}
