import type { Database } from 'bun:sqlite'
import { POSTGRES_POOL_PORT } from '../../apps/connections/connection.ts'
import { externalAddressOf, poolHostOf } from '../../apps/datastores/addresses.ts'
import { datastoresToRoute, OWNER_KIND, type StoredDatastore } from '../../apps/datastores/store.ts'
import type { DatabaseRoute, DatabaseRoutes } from '../../ingress/tables/database-route.ts'
import type { ProxyTarget } from '../../ingress/tables/proxy-target.ts'
import type { EdgeContext } from '../context.ts'

/** All datastores that somebody may reach from outside, and where they stand now. */
export function buildDatabaseRoutes(context: Pick<EdgeContext, 'db' | 'config'>): DatabaseRoutes {
  const targets = targetsByOwner(context.db)
  const pooled = pooledDatabases(context.db)
  const rows = datastoresToRoute(context.db).flatMap((datastore): [string, DatabaseRoute][] => {
    const address = externalAddressOf(context, datastore)
    if (address === undefined) return []
    const pool = pooled.has(datastore.id) && { pool: { host: poolHostOf(address.host), port: POSTGRES_POOL_PORT } }
    return [[datastore.id, { ...routeOf(datastore, address.host, targets.get(datastore.id) ?? []), ...pool }]]
  })
  return Object.fromEntries(rows)
}

type Routed = Pick<StoredDatastore, 'kind' | 'name' | 'suspendedBy' | 'phase' | 'ipAllowList'>

export function routeOf({ kind, name, suspendedBy, phase, ipAllowList }: Routed, host: string, targets: ProxyTarget[]): DatabaseRoute {
  const isRunning = phase === 'ready' && targets.length > 0
  const state = suspendedBy !== null ? 'suspended' : isRunning ? 'running' : 'unavailable'
  return { kind, name, host, state, targets: state === 'running' ? targets : [], allow: ipAllowList.map(({ cidrBlock }) => cidrBlock) }
}

const pooledDatabases = (db: Database): Set<string> =>
  new Set(
    db
      .query<{ id: string }, []>("SELECT id FROM postgres_databases WHERE connection_pool <> 'none'")
      .all()
      .map(({ id }) => id),
  )

interface TargetRow {
  id: string
  owner_id: string
  address: string
  port: number
}

function targetsByOwner(db: Database): Map<string, ProxyTarget[]> {
  const rows = db
    .query<TargetRow, [string]>(
      `SELECT id, owner_id, address, port FROM workloads
       WHERE owner_kind = ? AND phase = 'running' AND address IS NOT NULL AND port IS NOT NULL ORDER BY created_at DESC, id`,
    )
    .all(OWNER_KIND)
  const grouped = Map.groupBy(rows, ({ owner_id }) => owner_id)
  return new Map(
    [...grouped].map(([id, own]) => [id, own.map(({ id: instanceId, address, port }) => ({ instanceId, host: address, port }))]),
  )
}
