import { type Static, Type } from '@sinclair/typebox'
import { AppError } from '../../../../shared/error.ts'
import {
  PostgresConnection,
  PostgresConnections,
  PostgresLock,
  PostgresStatement,
  PostgresTable,
} from '../../../../shared/postgres-insight.ts'
import { answer, type Handlers } from '../../../http/handlers/call.ts'
import type { Viewer } from '../../../identity/scopes/protection.ts'
import type { AppContext } from '../../context.ts'
import { requireDatastore } from '../../datastores/require.ts'
import type { StoredDatastore } from '../../datastores/store.ts'
import { askAsTenant, askServer, rowsOf } from './ask.ts'
import { BLOAT, CONNECTIONS, COUNTS, cancelSql, EXTENSION_SCHEMA, LOCKS, statementsSql } from './statements.ts'

type InsightIds = 'listPostgresQueries' | 'getPostgresConnections' | 'listPostgresLocks' | 'listPostgresBloat' | 'cancelPostgresQuery'

const Counts = Type.Omit(PostgresConnections, ['connections'], { $id: 'PostgresConnectionCounts' })
const noCounts: Static<typeof Counts> = { open: 0, limit: 0, cacheHitRatio: null }

export const postgresInsightRoutes: Handlers<InsightIds, AppContext> = {
  listPostgresQueries: ({ actor, params, query }, context) =>
    askAsTenant(context, found(context, actor, params), async (sql) => {
      const schema = (await sql.run(EXTENSION_SCHEMA))[0]?.found
      return schema === undefined ? [] : await rowsOf(sql, statementsSql(String(schema), query.order ?? 'total'), PostgresStatement)
    }),
  getPostgresConnections: ({ actor, params }, context) =>
    askServer(context, found(context, actor, params), async (sql) => {
      const [counts = noCounts] = await rowsOf(sql, COUNTS, Counts)
      return { ...counts, connections: await rowsOf(sql, CONNECTIONS, PostgresConnection) }
    }),
  listPostgresLocks: ({ actor, params }, context) =>
    askServer(context, found(context, actor, params), (sql) => rowsOf(sql, LOCKS, PostgresLock)),
  listPostgresBloat: ({ actor, params }, context) =>
    askAsTenant(context, found(context, actor, params), (sql) => rowsOf(sql, BLOAT, PostgresTable)),
  async cancelPostgresQuery({ actor, params, body, change }, context) {
    const datastore = found(context, actor, params)
    const pid = pidOf(params.pid)
    const rows = await askServer(context, datastore, (sql) => sql.run(cancelSql(body?.terminate === true), [pid]))
    if (rows.length === 0) throw new AppError('not_found', `${datastore.name} has no connection ${pid} of yours any more.`)
    return change(() => answer(202, undefined))
  },
}

const MOST_PID = 2 ** 31 - 1

function pidOf(text: string): number {
  const pid = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (pid >= 1 && pid <= MOST_PID) return pid
  throw new AppError('not_found', 'There is no such connection. The connections and locks of the database tell their numbers.')
}

const found = (context: AppContext, actor: Viewer, { postgresId }: { postgresId: string }): StoredDatastore =>
  requireDatastore(context, actor, postgresId, 'postgres')
