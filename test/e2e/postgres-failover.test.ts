import { SQL } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backupsOf } from '../../server/apps/backups/rows/backup-store.ts'
import { standbyOf } from '../../server/apps/datastores/failover.ts'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { asAdmin } from '../../server/apps/postgres/session.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const LONG_MS = 90_000

let platform: Platform
let database: Postgres
beforeAll(async () => {
  platform = await startPlatform()
  const { body } = await ask<Postgres>('', { json: { name: 'shop', enableHighAvailability: true } })
  database = await untilAvailable(body.id)
}, 120_000)
afterAll(() => platform.close())

const ask = <T>(path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...options })

const untilAvailable = (id: string): Promise<Postgres> =>
  until(
    `${id} is available`,
    async () => {
      const { body } = await ask<Postgres>(`/${id}`)
      return body.status === 'available' && body
    },
    LONG_MS,
  )

const running = (id: string) => workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
const standby = () => standbyOf({ db: platform.db }, database)

async function withSql<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
  const { body } = await ask<PostgresConnectionInfo>(`/${database.id}/connection-info`)
  const { username, password, pathname } = new URL(body.internalConnectionString)
  const { address, port } = running(database.id) ?? {}
  const at = { hostname: address ?? '', port: port ?? 0, username, password, database: pathname.slice(1) }
  const sql = new SQL({ adapter: 'postgres', tls: false, max: 1, ...at })
  try {
    return await work(sql)
  } finally {
    await sql.close({ timeout: 0 })
  }
}

const rows = () => withSql(async (sql) => (await sql`SELECT i FROM rows ORDER BY i`.values()).map(([i]: [number]) => i))

const timeline = async () => {
  const { address, port } = running(database.id) ?? {}
  const endpoint = { host: address ?? '', port: port ?? 0 }
  return await asAdmin(platform.context, { id: database.id, endpoint }, async (sql) => {
    const [row] = await sql.run('SELECT timeline_id::int AS timeline, pg_is_in_recovery() AS follows FROM pg_control_checkpoint()')
    return { ...row }
  })
}

/** Until the standby has been asked since a moment, and was in step. */
const untilInStep = (since: number) =>
  until(
    'the standby is in step',
    () =>
      standby()?.phase === 'ready' &&
      platform.db
        .query('SELECT 1 FROM replica_lags WHERE datastore_id = ? AND at >= ? AND lag_ms = 0')
        .get(standby()?.id ?? '', Math.ceil(since / 1000)) !== null,
    LONG_MS,
  )

test('a standby takes the place of its database, which loses nothing and stays what it is', async () => {
  expect(database.highAvailabilityEnabled).toBe(true)
  expect((await ask<{ postgres: Postgres }[]>('')).body).toHaveLength(1)
  expect((await ask(`/${standby()?.id}`)).status).toBe(404)
  await withSql((sql) => sql`CREATE TABLE rows (i int)`)
  await untilInStep(Date.now())
  await withSql((sql) => sql`INSERT INTO rows VALUES (1), (2)`)
  const before = datastoreById(platform.db, database.id)
  const took = standby()
  expect((await ask(`/${database.id}/failover`, { method: 'POST' })).status).toBe(202)
  await until('the volumes are exchanged', () => datastoreById(platform.db, database.id)?.volumeId === took?.volumeId, LONG_MS)
  await until('it is over', () => datastoreById(platform.db, database.id)?.failover === null, LONG_MS)
  await untilAvailable(database.id)
  expect(await rows()).toEqual([1, 2])
  expect(await timeline()).toMatchObject({ timeline: 2 })
  expect(standby()).toMatchObject({ volumeId: before?.volumeId, copy: 2 })
  await withSql((sql) => sql`INSERT INTO rows VALUES (3)`)
}, 240_000)

test('backups go on, with a full one of the new time line', async () => {
  await until(
    'there is one',
    () =>
      backupsOf(platform.db, database.id).some(({ status, kind, timeline: of }) => status === 'available' && kind === 'full' && of === 2),
    LONG_MS,
  )
}, 120_000)

test('a standby takes the place of a database whose files are broken, by itself', async () => {
  await untilInStep(Date.now())
  const pid = Number(
    (await Bun.file(`${platform.dataDir}/run/instances/instances/${running(database.id)?.id}/process`).text()).split(' ')[0],
  )
  const took = standby()
  const volume = datastoreById(platform.db, database.id)?.volumeId ?? ''
  const root = `/proc/${pid}/root/var/lib/datastore/pgdata/global`
  expect(await Bun.file(`${root}/pg_control`).exists(), volume).toBe(true)
  await Bun.write(`${root}/pg_control`, 'broken')
  process.kill(pid, 'SIGKILL')
  await until('the volumes are exchanged', () => datastoreById(platform.db, database.id)?.volumeId === took?.volumeId, LONG_MS)
  await until('it is over', () => datastoreById(platform.db, database.id)?.failover === null, LONG_MS)
  await untilAvailable(database.id)
  expect(await rows()).toEqual([1, 2, 3])
}, 240_000)

test('without high availability the standby goes, and leaves nothing', async () => {
  const { id = '', volumeId = '' } = standby() ?? {}
  const { body } = await ask<Postgres>(`/${database.id}`, { method: 'PATCH', json: { enableHighAvailability: false } })
  expect(body.highAvailabilityEnabled).toBe(false)
  await until('it is gone', () => datastoreById(platform.db, id) === undefined, LONG_MS)
  expect(await platform.context.engine.volumes.list()).not.toContain(volumeId)
  expect(await ask(`/${database.id}/failover`, { method: 'POST' })).toMatchObject({ status: 409 })
}, 120_000)
