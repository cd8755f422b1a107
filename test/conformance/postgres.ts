import { SQL } from 'bun'
import { handedOut } from '../../server/apps/datastores/credential-store.ts'
import { stored } from '../../server/apps/datastores/operations.ts'
import { postgresById } from '../../server/apps/postgres/store.ts'
import { putUpgrade, updateUpgrade } from '../../server/apps/postgres/upgrade-store.ts'
import type { OperationId } from '../../shared/operations/all.ts'
import type { backupOperations } from '../../shared/operations/backups.ts'
import type { postgresCredentialOperations } from '../../shared/operations/postgres-credentials.ts'
import type { postgresInsightOperations } from '../../shared/operations/postgres-insight.ts'
import type { postgresTransferOperations } from '../../shared/operations/postgres-transfers.ts'
import { addBackups } from '../support/backups.ts'
import { call } from '../support/client.ts'
import { addDatastore } from '../support/datastores.ts'
import { addTransfer } from '../support/transfers.ts'
import { until } from '../support/until.ts'
import type { Prepare, SuccessCase } from './cases.ts'
import type { World } from './world.ts'

type PostgresCase = Exclude<Extract<OperationId, `${string}Postgres`>, 'listPostgres'> | 'getPostgresConnectionInfo' | PostgresDataCase
type PostgresDataCase =
  | keyof typeof postgresCredentialOperations
  | keyof typeof postgresInsightOperations
  | Extract<keyof typeof backupOperations, `${string}Postgres${string}`>
  | keyof typeof postgresTransferOperations
  | 'openPostgresTunnel'

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase[] => [
  { status, path, options: { method, ...(json !== undefined && { json }) } },
]

/** The path of a database that does not run. */
const suspended = ({ platform, workspaceId }: World): string => `/v1/postgres/${addDatastore(platform, { workspaceId, isSuspended: true })}`

/** The path of a database that has been backed up, and does not run any more. */
function backedUp({ platform, workspaceId }: World): string {
  const id = addDatastore(platform, { workspaceId })
  addBackups(platform, { id, workspaceId })
  return `/v1/postgres/${id}`
}

/** Paths of a database and of an export or import of it; an export has been made. */
function moved(world: World, kind: 'export' | 'import'): { database: string; transfer: string } {
  const { platform, workspaceId } = world
  const datastoreId = addDatastore(platform, { workspaceId, isSuspended: true })
  const id = addTransfer(platform, { workspaceId, datastoreId, kind, ...(kind === 'export' && { file: 'a dump' }) })
  const database = `/v1/postgres/${datastoreId}`
  return { database, transfer: `${database}/${kind}/${id}` }
}

/** The path of a database just made, once it can be connected to. */
async function running({ platform }: World): Promise<string> {
  const asAdmin = { token: platform.adminToken }
  const { body } = await call<{ id: string }>(`${platform.url}/v1/postgres`, { ...asAdmin, json: { name: `db ${crypto.randomUUID()}` } })
  const path = `/v1/postgres/${body.id}`
  await until(`${path} is available`, async () => {
    const seen = await call<{ status: string }>(platform.url + path, asAdmin)
    return seen.body.status === 'available'
  })
  return path
}

const kept = new WeakMap<World, Promise<string>>()

/** The path of a database that runs, the same each time: for what leaves it as it is. */
function lasting(world: World): Promise<string> {
  const path = kept.get(world) ?? running(world)
  kept.set(world, path)
  return path
}

/** The path of one that runs, when nothing is exported from it or imported into it. */
async function free(world: World): Promise<string> {
  const path = await lasting(world)
  const underWay = "SELECT 1 FROM transfers WHERE datastore_id = ? AND status IN ('waiting', 'running')"
  await until('no transfer is under way', () => world.platform.db.query(underWay).get(path.split('/').at(-1) ?? '') === null)
  return path
}

/** The number of a connection as the database's first user, which goes on until it is ended. */
async function pidOfTenant({ platform }: World, path: string): Promise<number> {
  const id = path.split('/').at(-1) ?? ''
  const at = platform.db
    .query<{ address: string; port: number }, [string]>('SELECT address, port FROM workloads WHERE owner_id = ?')
    .get(id)
  const own = postgresById(platform.db, id)
  const credential = handedOut(platform.db, platform.context.sealer, id)
  if (at === null || own === undefined || credential === undefined) throw new Error(`${id} does not run`)
  const target = {
    hostname: at.address,
    port: at.port,
    username: credential.user,
    password: credential.password,
    database: own.databaseName,
  }
  const [row] = await new SQL({ adapter: 'postgres', ...target, max: 1, tls: false })`SELECT pg_backend_pid() AS pid`
  return row.pid
}

/** A standby copies all of its database. */
const STANDBY_MS = 90_000

const isInStep = ({ platform: { db } }: World, path: string): boolean =>
  db
    .query(
      `SELECT 1 FROM replica_lags l JOIN datastores d ON d.id = l.datastore_id
       WHERE d.primary_id = ? AND d.role = 'standby' AND d.phase = 'ready' AND l.lag_ms <= 5000`,
    )
    .get(path.split('/').at(-1) ?? '') !== null

/** Has a database be one that was upgraded a moment ago, to the version that it was of. */
async function keepBefore({ platform: { db, context } }: World, id: string): Promise<void> {
  const { volumeId, version } = stored(context, id)
  await context.engine.volumes.snapshot(volumeId, 'upgrade-now', context.stopping)
  const now = context.now()
  putUpgrade(db, { id, fromVersion: version, toVersion: version, volumeId, snapshot: 'upgrade-now', startedAt: now })
  updateUpgrade(db, id, { step: 'done', stoppedAt: now, finishedAt: now, keptUntil: now + 60_000 })
}

export const postgresCases: Record<PostgresCase, Prepare> = {
  createPostgres: ({ workspaceId }) =>
    send('POST', 201, '/v1/postgres', {
      ...{
        name: `made ${crypto.randomUUID()}`,
        ownerId: workspaceId,
        plan: 'basic_1gb',
        databaseName: '',
        databaseUser: 'app',
        diskSizeGB: 1,
      },
      ...{ environmentId: null, readReplicas: null, ipAllowList: [], enableHighAvailability: false, connectionPool: 'none' },
      ...{ datadogAPIKey: '', parameterOverrides: { work_mem: '8MB' } },
    }),
  getPostgres: (world) => [{ status: 200, path: suspended(world) }],
  updatePostgres: (world) =>
    send('PATCH', 200, suspended(world), { name: `renamed ${crypto.randomUUID()}`, diskSizeGB: 2, ipAllowList: [] }),
  deletePostgres: (world) => send('DELETE', 204, suspended(world)),
  suspendPostgres: async (world) => send('POST', 202, `${await running(world)}/suspend`),
  async resumePostgres(world) {
    const path = await running(world)
    await call(`${world.platform.url}${path}/suspend`, { method: 'POST', token: world.platform.adminToken })
    return send('POST', 202, `${path}/resume`)
  },
  async failoverPostgres(world) {
    const path = await running(world)
    const { url, adminToken: token } = world.platform
    await call(url + path, { method: 'PATCH', token, json: { enableHighAvailability: true } })
    const look = () => {
      world.platform.context.work.poke('datastore', path.split('/').at(-1) ?? '')
      return isInStep(world, path)
    }
    await until(`${path} has a standby in step`, look, STANDBY_MS)
    return send('POST', 202, `${path}/failover`)
  },
  async rollBackPostgres(world) {
    const path = await running(world)
    await keepBefore(world, path.split('/').at(-1) ?? '')
    return send('POST', 202, `${path}/rollback`)
  },
  async confirmUpgradedPostgres(world) {
    const path = await running(world)
    await keepBefore(world, path.split('/').at(-1) ?? '')
    return send('POST', 202, `${path}/confirm-upgrade`)
  },
  restartPostgres: async (world) => send('POST', 202, `${await running(world)}/restart`),
  listPostgresBackups: (world) => [{ status: 200, path: `${backedUp(world)}/backups?limit=10` }],
  createPostgresBackup: (world) => send('POST', 201, `${backedUp(world)}/backups`),
  getPostgresRecovery: (world) => [{ status: 200, path: `${backedUp(world)}/recovery` }],
  startPostgresRecovery: (world) => send('POST', 201, `${backedUp(world)}/recovery`, { name: `recovered ${crypto.randomUUID()}` }),
  listPostgresExports: (world) => [{ status: 200, path: `${moved(world, 'export').database}/export` }],
  createPostgresExport: async (world) => send('POST', 202, `${await free(world)}/export`),
  deletePostgresExport: (world) => send('DELETE', 204, moved(world, 'export').transfer),
  downloadPostgresExport: (world) => [{ status: 200, path: `${moved(world, 'export').transfer}/file` }],
  listPostgresImports: (world) => [{ status: 200, path: `${moved(world, 'import').database}/import` }],
  startPostgresImport: async (world) =>
    send('POST', 202, `${await free(world)}/import`, { url: 'postgresql://app:pw@db.invalid/app?sslmode=require', clean: true }),
  uploadPostgresDump: async (world) => [
    {
      status: 202,
      path: `${await free(world)}/import/upload?clean=false`,
      options: { method: 'POST', raw: 'SELECT 1;\n', headers: { 'content-type': 'application/sql' } },
    },
  ],
  getPostgresImport: (world) => [{ status: 200, path: moved(world, 'import').transfer }],
  cancelPostgresImport: (world) => send('POST', 202, `${moved(world, 'import').transfer}/cancel`),
  getPostgresConnectionInfo: (world) => [{ status: 200, path: `${suspended(world)}/connection-info` }],
  listPostgresCredentials: async (world) => [{ status: 200, path: `${await lasting(world)}/credentials` }],
  createPostgresCredential: async (world) => send('POST', 201, `${await lasting(world)}/credentials`, { formerValidHours: 24 }),
  async deletePostgresCredential(world) {
    const path = `${await lasting(world)}/credentials`
    const asAdmin = { token: world.platform.adminToken }
    const [first] = (await call<{ username: string }[]>(world.platform.url + path, asAdmin)).body
    await call(world.platform.url + path, { ...asAdmin, method: 'POST' })
    return send('DELETE', 204, `${path}/${first?.username}`)
  },
  listPostgresQueries: async (world) => [{ status: 200, path: `${await lasting(world)}/queries?order=mean` }],
  getPostgresConnections: async (world) => [{ status: 200, path: `${await lasting(world)}/connections` }],
  listPostgresLocks: async (world) => [{ status: 200, path: `${await lasting(world)}/locks` }],
  listPostgresBloat: async (world) => [{ status: 200, path: `${await lasting(world)}/bloat` }],
  openPostgresTunnel: async (world) => [{ status: 101, path: `${await lasting(world)}/tunnel` }],
  async cancelPostgresQuery(world) {
    const path = await lasting(world)
    const pid = await pidOfTenant(world, path)
    return send('POST', 202, `${path}/queries/${pid}/cancel`, { terminate: true })
  },
}
