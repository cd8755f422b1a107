/**
 * Has a database take no writes while its disk is full. PostgreSQL knows no such state that an owner could not leave: a session may say that
 * it writes all the same, which is how an owner makes room by hand. So what they have set for good is taken back, who writes as it begins is
 * cut off, and when next to nothing is left, whoever writes is cut off, every second.
 */
import type { PostgresConnection } from '../../platform/postgres/connect.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import { VOLUME_PATH } from '../datastores/owner.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { renderSettings } from './config-files.ts'
import { asAdmin, ownOf } from './session.ts'
import { liveSettings } from './settings.ts'
import { quoteText } from './sql.ts'

/** A file of settings beside the data, which the server reads besides its own. It is gone at each start. */
export const liveFileOf = ({ engine }: Pick<AppContext, 'engine'>, { volumeId }: Pick<StoredDatastore, 'volumeId'>): string =>
  `${engine.volumes.pathOf({ volumeId, mountPath: VOLUME_PATH })}/live.conf`

interface Disk {
  isChanged: boolean
  isShort: boolean
}

/** @throws whatever refuses. */
export async function fitToDisk(
  context: AppContext,
  place: { datastore: StoredDatastore; endpoint: ServerEndpoint },
  disk: Disk,
): Promise<void> {
  const { id, sizeGb, diskState } = place.datastore
  const isFull = diskState === 'full'
  const { parameterOverrides: overrides } = ownOf(context, { id })
  const content = renderSettings(liveSettings({ sizeGb, isFull, overrides }))
  await asAdmin(context, { id, endpoint: place.endpoint }, async (sql) => {
    await write(sql, { path: liveFileOf(context, place.datastore), content, isChanged: disk.isChanged })
    if (!isFull || place.datastore.primaryId !== null) return
    for (const { statement } of await sql.run(UNDONE)) await sql.run(String(statement))
    if (disk.isChanged || disk.isShort) await sql.run(CUT_WRITERS)
  })
}

/** A reload may be lost with a control plane that was killed: it is asked for at each change, though the file has it. */
async function write(
  sql: PostgresConnection,
  { path, content, isChanged }: { path: string; content: string; isChanged: boolean },
): Promise<void> {
  const [found] = await sql.run('SELECT pg_read_file($1, 0, 100000, true) AS content', [path])
  const isThere = found?.content === content
  if (!isThere) await sql.run(`COPY (SELECT unnest(string_to_array(${quoteText(content.trimEnd())}, E'\\n'))) TO ${quoteText(path)}`)
  if (!isThere || isChanged) await sql.run('SELECT pg_reload_conf()')
}

/** Statements that take back where somebody has said for a database or role that all of its sessions write. */
const UNDONE = `SELECT 'ALTER ' || CASE WHEN s.setrole = 0 THEN format('DATABASE %I', d.datname)
    WHEN s.setdatabase = 0 THEN format('ROLE %I', r.rolname) ELSE format('ROLE %I IN DATABASE %I', r.rolname, d.datname) END
    || ' RESET default_transaction_read_only' AS statement
  FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase LEFT JOIN pg_roles r ON r.oid = s.setrole
  WHERE EXISTS (SELECT FROM unnest(s.setconfig) AS one WHERE one ~* '^default_transaction_read_only=(of|f|n|0)')
    AND (d.datname IS NOT NULL OR r.rolname IS NOT NULL) LIMIT 1000`

const CUT_WRITERS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE backend_xid IS NOT NULL AND backend_type = 'client backend' AND usename !~ '^cpd_'`
