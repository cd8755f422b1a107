import { AppError } from '../../../shared/error.ts'
import type { ConnectionPool } from '../../../shared/postgres.ts'
import type { AppContext } from '../context.ts'
import type { StoredPostgres } from './store.ts'

type Deps = Pick<AppContext, 'programs' | 'engine' | 'log'>

/** @throws AppError not_configured where this server cannot pool connections. */
export function requirePooler({ programs: { pooler }, engine }: Deps, wanted: ConnectionPool | undefined): void {
  if (wanted !== 'pgbouncer') return
  if (!engine.capabilities.ownNetworks)
    throw new AppError(
      'not_configured',
      'Pooling needs networks of their own for databases, which this server cannot make. cpd doctor tells why.',
    )
  if ('missing' in pooler) throw new AppError('not_configured', pooler.missing)
}

/** The pooler that a database starts with. One that has gone from the machine leaves the database without: it comes up all the same. */
export function poolerOf({ programs: { pooler }, log }: Deps, { id, connectionPool }: StoredPostgres): string | undefined {
  if (connectionPool === 'none') return undefined
  if ('path' in pooler) return pooler.path
  log.error('database without its pooler', { datastoreId: id, reason: pooler.missing })
  return undefined
}
