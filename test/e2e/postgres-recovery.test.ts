import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Backup, Recovery } from '../../shared/backup.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const ask = <T>(path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...options })

const LONG_MS = 60_000

async function untilAvailable(id: string): Promise<void> {
  await until(
    `${id} is available`,
    async () => {
      const { status } = (await ask<Postgres>(`/${id}`)).body
      if (status === 'recovery_failed') throw new Error(JSON.stringify((await ask(`/${id}/events`)).body))
      return status === 'available'
    },
    LONG_MS,
  )
}

async function withSql<T>(id: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const { internalConnectionString } = (await ask<{ internalConnectionString: string }>(`/${id}/connection-info`)).body
  const url = new URL(internalConnectionString)
  const server = workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
  const sql = new SQL({
    ...{ adapter: 'postgres', hostname: server?.address ?? '', port: server?.port ?? 0, tls: false, max: 1 },
    ...{ username: url.username, password: url.password, database: url.pathname.slice(1) },
  })
  try {
    return await work(sql)
  } finally {
    await sql.close()
  }
}

const newestBackup = async (id: string) => (await ask<{ backup: Backup }[]>(`/${id}/backups`)).body[0]?.backup

const untilVerified = (id: string) =>
  until(
    'a backup is verified',
    async () => {
      const backup = await newestBackup(id)
      if (backup?.status === 'failed' || backup?.status === 'damaged') throw new Error(backup.reason)
      return backup?.verifiedAt === undefined ? undefined : backup
    },
    LONG_MS,
  )

const receiversOf = (id: string): number[] =>
  processesOf(platform.dataDir).filter((pid) => commandLine(pid).includes('/bin/pg_receivewal') && environmentOf(pid).includes(id))

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

const untilReceived = async (id: string, former: readonly number[] = []): Promise<number[]> =>
  await until('its log is received', () => {
    const found = receiversOf(id).filter((pid) => !former.includes(pid))
    return found.length === 1 ? found : undefined
  })

const rowsOf = (id: string) => withSql(id, async (sql) => (await sql`SELECT i FROM rows ORDER BY i`.values()).map(([i]: [number]) => i))

it('the log of a database is received again when its receiver, and when its server is killed', async () => {
  const { body: made } = await ask<Postgres>('', { json: { name: 'streamed' } })
  await untilAvailable(made.id)
  const first = await untilReceived(made.id)
  for (const pid of first) process.kill(pid, 'SIGKILL')
  const second = await untilReceived(made.id, first)
  const servers = processesOf(platform.dataDir).filter((pid) => /(^|\/)postgres -D/.test(commandLine(pid)))
  expect(servers.length).toBeGreaterThan(0)
  for (const pid of servers) process.kill(pid, 'SIGKILL')
  await until('its receiver has ended', () => !receiversOf(made.id).includes(second[0] ?? 0))
  await untilReceived(made.id, second)
}, 120_000)

it('a database is recovered to the moment before a table was dropped, and after it was deleted', async () => {
  const { body: made } = await ask<Postgres>('', { json: { name: 'shop' } })
  await untilAvailable(made.id)
  await untilVerified(made.id)
  await withSql(made.id, (sql) => sql`CREATE TABLE rows (i int)`)
  await withSql(made.id, (sql) => sql`INSERT INTO rows VALUES (1), (2), (3)`)
  const before = new Date(Date.now() + 1)
  await until('the clock has moved on', () => Date.now() > before.getTime() + 5)
  await withSql(made.id, (sql) => sql`DROP TABLE rows`)

  const recovered = await ask<Postgres>(`/${made.id}/recovery`, { json: { restoreTime: before.toISOString(), name: 'shop-before' } })
  expect(recovered).toMatchObject({ status: 201, body: { status: 'recovery_in_progress', databaseName: made.databaseName } })
  await untilAvailable(recovered.body.id)
  expect(await rowsOf(recovered.body.id)).toEqual([1, 2, 3])

  const early = await ask<{ message: string }>(`/${made.id}/recovery`, { json: { restoreTime: '2020-01-01T00:00:00Z' } })
  expect(early).toMatchObject({
    status: 400,
    body: { details: [{ path: '/restoreTime', message: expect.stringContaining('any moment from') }] },
  })
  const { body: window } = await ask<Recovery>(`/${made.id}/recovery`)
  expect(window).toMatchObject({ recoveryStatus: 'AVAILABLE', startsAt: expect.any(String) })

  await untilVerified(recovered.body.id)
  await withSql(recovered.body.id, (sql) => sql`INSERT INTO rows VALUES (4)`)
  await ask(`/${recovered.body.id}`, { method: 'DELETE' })
  await until('it is gone', () => platform.db.query('SELECT 1 FROM datastores WHERE id = ?').get(recovered.body.id) === null, LONG_MS)
  const again = await ask<Postgres>(`/${recovered.body.id}/recovery`, { json: { name: 'shop-again' } })
  expect(again.status).toBe(201)
  await untilAvailable(again.body.id)
  expect(await rowsOf(again.body.id)).toEqual([1, 2, 3, 4])
}, 240_000)

it('a database that is deleted while nobody receives its log, and that has no backup yet, keeps a last one', async () => {
  const { body: made } = await ask<Postgres>('', { json: { name: 'short' } })
  await untilAvailable(made.id)
  await untilVerified(made.id)
  await withSql(made.id, (sql) => sql`CREATE TABLE rows AS SELECT 5 AS i`)
  platform.db.query("UPDATE backups SET status = 'failed' WHERE datastore_id = ?").run(made.id)
  const receivers = await untilReceived(made.id)
  for (const pid of receivers) process.kill(pid, 'SIGKILL')
  await until('its receiver has ended', () => receiversOf(made.id).length === 0)
  await ask(`/${made.id}`, { method: 'DELETE' })
  await until('it is gone', () => platform.db.query('SELECT 1 FROM datastores WHERE id = ?').get(made.id) === null, LONG_MS)
  expect(receiversOf(made.id)).toEqual([])
  const again = await ask<Postgres>(`/${made.id}/recovery`, { json: { name: 'short-again' } })
  expect(again.status).toBe(201)
  await untilAvailable(again.body.id)
  expect(await rowsOf(again.body.id)).toEqual([5])
}, 240_000)
