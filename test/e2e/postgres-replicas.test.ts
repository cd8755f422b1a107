import { SQL } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { slotOf } from '../../server/apps/postgres/following.ts'
import { asAdmin } from '../../server/apps/postgres/session.ts'
import { dropSlot, oldestSegmentOn } from '../../server/apps/replication/slots.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { TimeSeries } from '../../shared/metrics.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const LONG_MS = 60_000

let platform: Platform
let primary: Postgres
let replica: Postgres
beforeAll(async () => {
  platform = await startPlatform()
  const { body } = await ask<Postgres>('', { json: { name: 'shop', readReplicas: [{ name: 'shop-reads' }] } })
  primary = await untilAvailable(body.id)
  replica = await untilAvailable(primary.readReplicas[0]?.id ?? '')
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

async function withSql<T>(id: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const { body } = await ask<PostgresConnectionInfo>(`/${id}/connection-info`)
  const { username, password, pathname } = new URL(body.internalConnectionString)
  const { address, port } = running(id) ?? {}
  const at = { hostname: address ?? '', port: port ?? 0, username, password, database: pathname.slice(1) }
  const sql = new SQL({ adapter: 'postgres', tls: false, max: 1, ...at })
  try {
    return await work(sql)
  } finally {
    await sql.close({ timeout: 0 })
  }
}

const rowsOf = (id: string) =>
  withSql(id, async (sql) => (await sql`SELECT i FROM rows ORDER BY i`.values()).map(([i]: [number]) => i)).catch(() => [])

const untilRows = (id: string, rows: number[]) => until(`${id} has ${rows}`, async () => Bun.deepEquals(await rowsOf(id), rows), LONG_MS)

const slotsOfPrimary = async () =>
  await withSql(primary.id, async (sql) => (await sql`SELECT slot_name FROM pg_replication_slots`.values()).map(([name]: [string]) => name))

test('a replica is read from alone, with the users of its primary, and says whose it is', async () => {
  expect(replica).toMatchObject({ role: 'replica', primaryPostgresID: primary.id, name: 'shop-reads', databaseName: primary.databaseName })
  expect(replica.id).toMatch(/-b$/)
  await withSql(primary.id, (sql) => sql`CREATE TABLE rows (i int)`)
  await withSql(primary.id, (sql) => sql`INSERT INTO rows VALUES (1)`)
  await untilRows(replica.id, [1])
  await expect(withSql(replica.id, (sql) => sql`INSERT INTO rows VALUES (2)`)).rejects.toThrow('read-only')
  await until('its lag is told', async () => (await untilAvailable(replica.id)).replicationLagSeconds !== undefined, LONG_MS)
  const lag = await call<TimeSeries[]>(`${platform.url}/v1/metrics/replication-lag?resource=${replica.id}`, { token: platform.adminToken })
  expect(lag.body).toMatchObject([{ unit: 'seconds', labels: [{ field: 'resource', value: replica.id }] }])
  const list = async (query: string) => (await ask<{ postgres: Postgres }[]>(query)).body.map(({ postgres }) => postgres.name)
  expect([await list(''), await list('?includeReplicas=false')]).toEqual([['shop-reads', 'shop'], ['shop']])
}, 120_000)

test('what a replica has of its primary is changed there', async () => {
  for (const [method, path, json] of [
    ['POST', '/suspend'],
    ['POST', '/credentials', {}],
    ['POST', '/backups'],
    ['PATCH', '', { plan: 'basic_1gb' }],
  ] as const)
    expect(await ask(`/${replica.id}${path}`, { method, json }), path).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(primary.id) },
    })
  expect((await ask<Postgres>(`/${replica.id}`, { method: 'PATCH', json: { ipAllowList: [] } })).body.ipAllowList).toEqual([])
})

test('another user, another plan and a larger disk of the primary are its own as well', async () => {
  await ask(`/${primary.id}/credentials`, { json: { username: 'second' } })
  await withSql(primary.id, (sql) => sql`INSERT INTO rows VALUES (2)`)
  await untilRows(replica.id, [1, 2])
  await ask(`/${primary.id}`, { method: 'PATCH', json: { plan: 'pro_8gb', diskSizeGB: 2 } })
  await until(
    'both have them',
    async () => {
      const both = [await untilAvailable(primary.id), await untilAvailable(replica.id)]
      return both.every(({ plan, diskSizeGB }) => plan === 'pro_8gb' && diskSizeGB === 2)
    },
    LONG_MS,
  )
  await withSql(primary.id, (sql) => sql`INSERT INTO rows VALUES (3)`)
  await untilRows(replica.id, [1, 2, 3])
  await ask(`/${primary.id}`, { method: 'PATCH', json: { plan: 'free' } })
  await until('both have less', async () => (await untilAvailable(replica.id)).plan === 'free', LONG_MS)
  await untilAvailable(primary.id)
  await withSql(primary.id, (sql) => sql`INSERT INTO rows VALUES (4)`)
  await untilRows(replica.id, [1, 2, 3, 4])
}, 180_000)

test('it is suspended and resumed with its primary, and goes on from where it was', async () => {
  await ask(`/${primary.id}/suspend`, { method: 'POST' })
  await until('the replica is suspended', async () => (await ask<Postgres>(`/${replica.id}`)).body.status === 'suspended')
  await ask(`/${primary.id}/resume`, { method: 'POST' })
  await untilAvailable(primary.id)
  await untilAvailable(replica.id)
  await withSql(primary.id, (sql) => sql`INSERT INTO rows VALUES (5)`)
  await untilRows(replica.id, [1, 2, 3, 4, 5])
  expect(datastoreById(platform.db, replica.id)?.copy).toBe(1)
}, 120_000)

test('one whose place in the log was lost takes all anew', async () => {
  const { address, port } = running(primary.id) ?? {}
  const endpoint = { host: address ?? '', port: port ?? 0 }
  await asAdmin(platform.context, { id: primary.id, endpoint }, async (sql) => {
    const before = await oldestSegmentOn(sql)
    await until('the slot is dropped between two streams', () =>
      dropSlot(sql, slotOf(replica)).then(
        () => true,
        () => false,
      ),
    )
    await until('the primary has forgotten log', async () => {
      for (const statement of ['SELECT pg_switch_wal()', 'SELECT pg_create_restore_point($$next$$)', 'CHECKPOINT']) await sql.run(statement)
      return (await oldestSegmentOn(sql)) > before + 3
    })
  })
  platform.context.work.poke('datastore', primary.id)
  await until('it is told', () => datastoreById(platform.db, replica.id)?.copy === 2, LONG_MS)
  const { generation } = datastoreById(platform.db, replica.id) ?? {}
  await until('it was started anew', () => running(replica.id)?.setId === `${replica.id}.${generation}`, LONG_MS)
  await untilRows(replica.id, [1, 2, 3, 4, 5])
}, 120_000)

test('replicas come and go with the list, and leave no slot and no volume', async () => {
  const { body } = await ask<Postgres>(`/${primary.id}`, { method: 'PATCH', json: { readReplicas: [{ name: 'other' }] } })
  expect(body.readReplicas.map(({ name }) => name)).toEqual(['other'])
  const other = body.readReplicas[0]?.id ?? ''
  await untilAvailable(other)
  await until('the first is removed', () => datastoreById(platform.db, replica.id) === undefined, LONG_MS)
  const slot = (id: string) => `cpd_${id.replaceAll('-', '_')}`
  expect((await slotsOfPrimary()).toSorted()).toEqual(['cpd_backup', slot(other)].toSorted())
  const { volumeId = '' } = datastoreById(platform.db, other) ?? {}
  expect((await ask(`/${primary.id}`, { method: 'DELETE' })).status).toBe(204)
  await until('both are removed', () => [other, primary.id].every((id) => datastoreById(platform.db, id) === undefined), LONG_MS)
  expect(await platform.context.engine.volumes.list()).not.toContain(volumeId)
}, 180_000)
