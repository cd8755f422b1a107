/**
 * What is asked of a server, each giving one row with JSON in `found`. Names are found in pg_catalog alone; what a tenant can have made
 * itself is asked for in the tenant's own name.
 */
import { insightLimits, type QueryOrder } from '../../../../shared/postgres-insight.ts'
import { ADMIN, BACKUP } from '../roles.ts'
import { quoteName, quoteText } from '../sql.ts'

const { rows, queryLength } = insightLimits

/** By this name in them, statements that were asked in a tenant's own name are known from the tenant's. */
const OURS = 'cpd_insight'

const asJson = (select: string): string => `SELECT coalesce(json_agg(${OURS}), '[]')::text AS found FROM (${select}) ${OURS}`
const ms = (interval: string): string => `round(extract(epoch FROM ${interval})::numeric * 1000)::float8`
const iso = (time: string): string => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const hitRatio = (hit: string, read: string): string => `(${hit})::float8 / nullif((${hit}) + (${read}), 0)`

/** Tenants may make roles whose names begin as these do: those are not hidden. */
const OWN_ROLES = `(${quoteText(ADMIN)}, ${quoteText(BACKUP)})`

/** Connections of people: not of the platform, nor the server's own processes. */
const OF_PEOPLE = `backend_type = 'client backend' AND usename NOT IN ${OWN_ROLES}`

const session = (activity: string): string =>
  `${activity}.pid, ${activity}.usename AS "user", ${activity}.state, left(${activity}.query, ${queryLength}) AS query`

export const CONNECTIONS = asJson(`
  SELECT ${session('a')}, a.datname AS database, coalesce(a.application_name, '') AS application,
    a.wait_event_type || ': ' || a.wait_event AS "waitsFor", ${iso('a.backend_start')} AS "connectedAt",
    ${ms('clock_timestamp() - a.state_change')} AS "stateMs", ${ms('clock_timestamp() - a.xact_start')} AS "transactionMs"
  FROM pg_stat_activity a WHERE ${OF_PEOPLE}
  ORDER BY a.xact_start NULLS LAST, a.state = 'active' DESC, a.state_change DESC LIMIT ${rows}`)

export const COUNTS = asJson(`
  SELECT (SELECT count(*) FROM pg_stat_activity WHERE ${OF_PEOPLE})::int AS open,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS "limit",
    (SELECT ${hitRatio('sum(blks_hit)', 'sum(blks_read)')} FROM pg_stat_database) AS "cacheHitRatio"`)

export const FIGURES = asJson(`
  SELECT (SELECT count(*) FROM pg_stat_activity WHERE ${OF_PEOPLE})::int AS connections, coalesce(sum(blks_hit), 0)::float8 AS hits,
    coalesce(sum(blks_read), 0)::float8 AS misses, coalesce(sum(xact_commit + xact_rollback), 0)::float8 AS operations FROM pg_stat_database`)

export const LOCKS = asJson(`
  SELECT ${session('a')}, ${ms('clock_timestamp() - coalesce(l.waitstart, a.state_change)')} AS "waitMs",
    l.mode || ' on ' || l.locktype AS lock, CASE WHEN l.relation IS NOT NULL THEN l.relation::regclass::text END AS relation,
    (SELECT coalesce(json_agg(y), '[]') FROM (SELECT ${session('b')} FROM pg_stat_activity b WHERE b.pid = ANY (pg_blocking_pids(a.pid)) LIMIT 20) y)
      AS "blockedBy"
  FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
  WHERE ${OF_PEOPLE} ORDER BY l.waitstart NULLS LAST LIMIT ${rows}`)

export const BLOAT = asJson(`
  SELECT schemaname AS schema, relname AS "table", pg_total_relation_size(relid)::float8 AS "sizeBytes", pg_indexes_size(relid)::float8 AS "indexBytes",
    n_live_tup::float8 AS "liveRows", n_dead_tup::float8 AS "deadRows",
    coalesce(n_dead_tup::float8 / nullif(n_live_tup + n_dead_tup, 0), 0) AS "deadRatio",
    ${iso('greatest(last_vacuum, last_autovacuum)')} AS "vacuumedAt", ${iso('greatest(last_analyze, last_autoanalyze)')} AS "analyzedAt"
  FROM pg_stat_user_tables ORDER BY pg_total_relation_size(relid) DESC LIMIT ${rows}`)

export const EXTENSION_SCHEMA = `SELECT n.nspname AS found FROM pg_extension ${OURS} JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'pg_stat_statements'`

const orders: Record<QueryOrder, string> = { total: 'total_exec_time', mean: 'mean_exec_time', calls: 'calls' }

/** Roles of exports and imports are gone when those are over, and with them what they asked. */
export const statementsSql = (schema: string, order: QueryOrder): string =>
  asJson(`
  SELECT left(s.query, ${queryLength}) AS query, r.rolname AS "user", s.calls::float8 AS calls, s.total_exec_time AS "totalMs",
    s.mean_exec_time AS "meanMs", s.max_exec_time AS "maxMs", s.rows::float8 AS rows,
    ${hitRatio('s.shared_blks_hit', 's.shared_blks_read')} AS "cacheHitRatio"
  FROM ${quoteName(schema)}.pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
  WHERE s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND r.rolname NOT IN ${OWN_ROLES}
    AND position('${OURS}' IN s.query) = 0
  ORDER BY s.${orders[order]} DESC LIMIT ${rows}`)

/** One row if there is such a connection of people; it is told whether that was ended. */
export const cancelSql = (terminate: boolean): string =>
  `SELECT ${terminate ? 'pg_terminate_backend' : 'pg_cancel_backend'}(pid) AS found FROM pg_stat_activity WHERE pid = $1 AND ${OF_PEOPLE}`
