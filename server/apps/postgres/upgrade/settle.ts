/** What an upgraded database needs once its server runs: extensions of the new version, statistics, and what its first user may do there. */
import { SQL } from 'bun'
import { messageOf } from '../../../../shared/error.ts'
import type { PostgresConnection } from '../../../platform/postgres/connect.ts'
import type { AppContext } from '../../context.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { asAdmin, ownOf } from '../session.ts'
import { quoteName } from '../sql.ts'
import type { StoredUpgrade } from '../upgrade-store.ts'

/** Version from which on pg_upgrade brings statistics along. */
const KEEPS_STATISTICS = 18
/** Version from which on who may create roles has rights over those alone. */
const OWN_ROLES_ALONE = 16

const ANALYZE = 'ANALYZE (SKIP_LOCKED)'

/** Rough figures first, so that nothing waits long for good plans: the stages of vacuumdb --analyze-in-stages. One statement each, as all tables of one stay locked to its end. */
export function analyses(toVersion: number): string[] {
  const all = ['RESET default_statistics_target', ANALYZE]
  const rough = [1, 10].flatMap((target) => [`SET default_statistics_target = ${target}`, ANALYZE])
  return toVersion >= KEEPS_STATISTICS ? all : [...rough, ...all]
}

export interface Settling {
  upgrade: StoredUpgrade
  endpoint: ServerEndpoint
}

/** Returns what could not be brought along, in words. Repeatable. @throws whatever refuses. */
export async function settleUpgrade(context: AppContext, { upgrade, endpoint }: Settling): Promise<string[]> {
  const { id, toVersion, fromVersion } = upgrade
  const databases = await asAdmin(context, { id, endpoint }, async (sql) => {
    if (Number(fromVersion) < OWN_ROLES_ALONE && Number(toVersion) >= OWN_ROLES_ALONE)
      await giveRoles(sql, ownOf(context, { id }).databaseUser)
    const found = await sql.run('SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY oid')
    return found.map(({ datname }) => String(datname))
  })
  const problems: string[] = []
  for (const database of databases)
    problems.push(...(await asAdmin(context, { id, endpoint, database }, (sql) => settleDatabase(sql, database, Number(toVersion)))))
  for (const problem of problems) context.log.info('extension of an upgraded database not updated', { datastoreId: id, problem })
  return problems
}

/** New databases have it from the beginning. A user of that name may be gone. */
async function giveRoles(sql: PostgresConnection, user: string): Promise<void> {
  const [found] = await sql.run('SELECT 1 AS is_there FROM pg_roles WHERE rolname = $1', [user])
  if (found !== undefined) await sql.run(`ALTER ROLE ${quoteName(user)} CREATEROLE`)
}

const OUTDATED = `SELECT e.extname FROM pg_extension e JOIN pg_available_extensions a ON a.name = e.extname
  WHERE a.default_version <> e.extversion ORDER BY e.oid`

async function settleDatabase(sql: PostgresConnection, database: string, toVersion: number): Promise<string[]> {
  const problems: string[] = []
  await sql.run("SET statement_timeout = 0; SET lock_timeout = '30s'")
  for (const { extname } of await sql.run(OUTDATED)) {
    const name = String(extname)
    await sql.run(`ALTER EXTENSION ${quoteName(name)} UPDATE`).catch((error) => {
      if (!isRefusal(error)) throw error
      problems.push(`The extension ${name} of ${database} stays as it was: ${messageOf(error)}`)
    })
  }
  for (const statements of analyses(toVersion)) await sql.run(statements)
  return problems
}

/** Servers say in five characters what they refuse; a connection that is lost has others. */
const isRefusal = (error: unknown): boolean => error instanceof SQL.PostgresError && /^[0-9A-Z]{5}$/.test(String(error.errno))
