import type { DatabaseRoute, DatabaseRoutes } from '../../../../server/ingress/tables/database-route.ts'
import { startTlsWorld, type TlsWorld } from '../tls/tls-world.ts'
import type { WorldOptions } from '../world.ts'

export const PG_ID = 'dpg-0b1c2d3e4f5g6h7i8j9k-a'
export const PG_HOST = `${PG_ID}.db.test`
export const KV_ID = 'red-0b1c2d3e4f5g6h7i8j9k'
export const KV_HOST = 'kv.db.test'

/** A real ingress with both ports of databases and certificates for their names. */
export interface DatabaseWorld extends TlsWorld {
  postgresPort: number
  keyValuePort: number
  list(databases: DatabaseRoutes): Promise<void>
}

export async function startDatabaseWorld(
  limits: WorldOptions['limits'] = {},
  { host = '127.0.0.1', ...options }: Pick<WorldOptions, 'accessLog'> & { host?: string } = {},
): Promise<DatabaseWorld> {
  const listen = { host, port: 0 }
  const world = await startTlsWorld({ ...options, limits, databases: { postgres: listen, keyValue: { listen, host: KV_HOST } } })
  const names = await Promise.all([world.certify('crt-pg', ['*.db.test']), world.certify('crt-kv', [KV_HOST])])
  await world.serve(names)
  return {
    ...world,
    postgresPort: world.ingress.databaseAddress('postgres')?.port ?? 0,
    keyValuePort: world.ingress.databaseAddress('key_value')?.port ?? 0,
    list: (databases) => world.publish({}, databases),
  }
}

export const postgresAt = (port: number, changes: Partial<DatabaseRoute> = {}): DatabaseRoute => ({
  kind: 'postgres',
  name: 'orders',
  host: PG_HOST,
  state: 'running',
  targets: [{ instanceId: `i-${port}`, host: '127.0.0.1', port }],
  allow: ['127.0.0.0/8', '::1/128'],
  ...changes,
})

export const keyValueAt = (port: number, changes: Partial<DatabaseRoute> = {}): DatabaseRoute => ({
  ...postgresAt(port),
  kind: 'key_value',
  name: 'cache',
  host: KV_HOST,
  ...changes,
})
