/**
 * Roles that tools connect as, made for one transfer. The password of a tenant's own may have been changed by SQL. What reads for an export reads
 * all and writes nothing; what writes for an import has the rights of the first user, and what it makes is that user's.
 */
import type { AppContext } from '../../context.ts'
import type { ServerEndpoint } from '../../datastores/kind.ts'
import { dropRole } from '../../postgres/credentials/plan.ts'
import { asAdmin } from '../../postgres/session.ts'
import { quoteName, quoteText, scramVerifier } from '../../postgres/sql.ts'
import type { StoredPostgres } from '../../postgres/store.ts'
import type { TransferKind } from '../rows/store.ts'

export const toolRoles: Record<TransferKind, string> = { export: 'cpd_export', import: 'cpd_import' }

const CONNECTIONS = 8

export interface ToolRole {
  kind: TransferKind
  own: Pick<StoredPostgres, 'id' | 'databaseName' | 'databaseUser'>
  endpoint: ServerEndpoint
}

/** Makes the role, or gives one that a killed transfer left another password. @throws whatever refuses. */
export async function makeRole(context: AppContext, role: ToolRole, password: string): Promise<void> {
  await asAdmin(context, { id: role.own.id, endpoint: role.endpoint }, (sql) => sql.run(makeRoleSql(role, password)))
}

export function makeRoleSql({ kind, own }: Omit<ToolRole, 'endpoint'>, password: string): string {
  const role = quoteName(toolRoles[kind])
  const rights = kind === 'export' ? 'BYPASSRLS' : 'NOBYPASSRLS'
  const limits = `NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION ${rights} CONNECTION LIMIT ${CONNECTIONS}`
  return [
    `DO $cpd$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${quoteText(toolRoles[kind])}) THEN CREATE ROLE ${role}; END IF; END $cpd$;`,
    `ALTER ROLE ${role} LOGIN ${limits} PASSWORD ${quoteText(scramVerifier(password))};`,
    `GRANT CONNECT ON DATABASE ${quoteName(own.databaseName)} TO ${role};`,
    // Large objects have rights of their own, which reading all data does not include.
    ...(kind === 'export'
      ? [`GRANT pg_read_all_data TO ${role};`, `ALTER ROLE ${role} SET lo_compat_privileges TO on;`]
      : [`GRANT ${quoteName(own.databaseUser)} TO ${role};`, `ALTER ROLE ${role} SET role TO ${quoteName(own.databaseUser)};`]),
  ].join('\n')
}

/** Ends what is connected as the role, and takes it away. @throws whatever refuses. */
export async function endRole(context: AppContext, { kind, own, endpoint }: ToolRole): Promise<void> {
  const place = { id: own.id, endpoint }
  const name = toolRoles[kind]
  await asAdmin(context, place, (sql) =>
    sql.run(
      `ALTER ROLE ${quoteName(name)} NOLOGIN PASSWORD NULL;
       SELECT pg_catalog.pg_terminate_backend(pid, 5000) FROM pg_catalog.pg_stat_activity WHERE usename = ${quoteText(name)};`,
    ),
  )
  await asAdmin(context, { ...place, database: own.databaseName }, (sql) => sql.run(dropRole(name, own.databaseUser)))
}
