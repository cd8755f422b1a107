import type { PostgresConnection, PostgresTarget } from '../../platform/postgres/connect.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import { poolPassword } from './pool-files.ts'
import { poolRoleSql } from './pool-role.ts'
import { ADMIN, adminSettings, BACKUP, NEW_DATABASE } from './roles.ts'
import { quoteName, quoteText, scramVerifier } from './sql.ts'
import type { StoredPostgres } from './store.ts'

export interface Passwords {
  admin: string
  backup: string
}

export interface Initialising {
  endpoint: ServerEndpoint
  own: StoredPostgres
  passwords: Passwords
  version: number
  isNew: boolean
  isFollower?: boolean
  password?: string
}

/** Version from which on who may create roles has rights over those alone, and can give none that they lack. */
const OWN_ROLES_ALONE = 16

/** Has a server know the roles and the database of a new one. Repeatable. Returns whether all in it is new. @throws whatever refuses. */
export async function initialise({ connectPostgres }: Pick<AppContext, 'connectPostgres'>, given: Initialising): Promise<boolean> {
  const { endpoint, own, passwords, isNew } = given
  const admin: Omit<PostgresTarget, 'database'> = {
    ...endpoint,
    user: ADMIN,
    password: passwords.admin,
    settings: adminSettings(given.version),
  }
  const isFresh = await using(connectPostgres({ ...admin, database: 'postgres' }), async (sql) => {
    if (own.connectionPool !== 'none' && given.isFollower !== true) await sql.run(poolRoleSql(poolPassword(passwords.admin)))
    await sql.run(isNew ? rolesSql(given) : 'SELECT 1')
    if (!isNew) return false
    const found = await sql.run('SELECT datname FROM pg_database WHERE datname IN ($1, $2)', [own.databaseName, NEW_DATABASE])
    const names = found.map(({ datname }) => String(datname))
    for (const statement of databaseSql(own, names)) await sql.run(statement)
    return names.length === 1 && names[0] === NEW_DATABASE
  })
  if (isNew && !isFresh) await using(connectPostgres({ ...admin, database: own.databaseName }), (sql) => sql.run(EXTENSIONS))
  return isFresh
}

/** The database of a new cluster becomes its owner's. Whoever was killed between two statements leaves the second to the next. */
export function databaseSql(
  { databaseName, databaseUser }: Pick<StoredPostgres, 'databaseName' | 'databaseUser'>,
  known: readonly string[],
): string[] {
  const [name, user] = [quoteName(databaseName), quoteName(databaseUser)]
  // Its owner may have shut the one that is restored, from another database.
  if (known.includes(databaseName)) return [`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`]
  if (!known.includes(NEW_DATABASE)) return [`CREATE DATABASE ${name} OWNER ${user}`]
  return [`ALTER DATABASE ${NEW_DATABASE} OWNER TO ${user}`, `ALTER DATABASE ${NEW_DATABASE} RENAME TO ${name}`]
}

/** Reading what was run needs a superuser to set up; its figures hold no password, as those are sent as what is kept of them. */
const EXTENSIONS = `DO $cpd$ BEGIN IF to_regnamespace('public') IS NOT NULL THEN
  CREATE EXTENSION IF NOT EXISTS pg_stat_statements WITH SCHEMA public; END IF; END $cpd$`

async function using<T>(opening: Promise<PostgresConnection>, use: (sql: PostgresConnection) => Promise<T>): Promise<T> {
  const connection = await opening
  try {
    return await use(connection)
  } finally {
    await connection.close()
  }
}

export function rolesSql({ own, passwords, password, version }: Initialising): string {
  const user = quoteName(own.databaseUser)
  const creates = version >= OWN_ROLES_ALONE ? 'CREATEROLE' : 'NOCREATEROLE'
  return [
    ensureRole(own.databaseUser),
    `ALTER ROLE ${user} LOGIN NOSUPERUSER CREATEDB ${creates} NOREPLICATION NOBYPASSRLS${passwordOf(password)};`,
    `GRANT pg_read_all_stats TO ${user};`,
    ensureRole(BACKUP),
    `ALTER ROLE ${quoteName(BACKUP)} LOGIN NOSUPERUSER REPLICATION${passwordOf(passwords.backup)};`,
  ].join('\n')
}

const passwordOf = (password: string | undefined): string =>
  password === undefined ? '' : ` PASSWORD ${quoteText(scramVerifier(password))}`

const ensureRole = (name: string): string =>
  `DO $cpd$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${quoteText(name)}) THEN CREATE ROLE ${quoteName(name)}; END IF; END $cpd$;`
