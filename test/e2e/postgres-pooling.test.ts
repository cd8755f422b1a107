import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { SQL } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OWNER_KIND } from '../../server/apps/datastores/store.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { freePorts } from '../support/free-ports.ts'
import { chooseIngressPorts } from '../support/ingress.ts'
import { defaultWorkspaceId } from '../support/members.ts'
import { pgbouncer } from '../support/pgbouncer.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

let platform: Platform
let ownerId: string
const [postgresPort = 0] = freePorts(1)
const open: SQL[] = []

beforeAll(async () => {
  const tls = await chooseIngressPorts()
  const env = { CP_ACME_DIRECTORY: 'off', CP_BASE_DOMAIN: 'apps.test', CP_PGBOUNCER_PROGRAM: pgbouncer }
  platform = await startPlatform(env, { tls, postgresPort })
  ownerId = await defaultWorkspaceId(platform)
}, 60_000)
afterAll(async () => {
  for (const sql of open) await sql.close({ timeout: 0 })
  await platform.close()
})

const send = async <T>(method: string, path: string, json?: unknown): Promise<T> =>
  (await call<T>(`${platform.url}/v1${path}`, { method, token: platform.adminToken, ...(json !== undefined && { json }) })).body

const infoOf = (id: string) => send<PostgresConnectionInfo>('GET', `/postgres/${id}/connection-info`)

const untilAvailable = (id: string) =>
  until('it is available', async () => (await send<Postgres>('GET', `/postgres/${id}`)).status === 'available', 60_000)

/** A client of the way in from outside, by the name in a connection string. */
function outside(connection: string, { max = 1, password }: { max?: number; password?: string } = {}): SQL {
  const url = new URL(connection)
  const sql = new SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port: postgresPort,
    username: url.username,
    password: password ?? url.password,
    database: url.pathname.slice(1),
    tls: { rejectUnauthorized: false, serverName: url.hostname },
    max,
  })
  open.push(sql)
  return sql
}

/** The poolers that this test has started: they run where its platform keeps the files of sandboxes. */
const poolers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
        return command.includes('pgbouncer.ini') && readlinkSync(`/proc/${pid}/cwd`).startsWith(platform.dataDir)
      } catch {
        return false
      }
    })
    .map(Number)

test('a pooled database takes more clients than it has connections, keeps their statements apart, and knows its own users alone', {
  timeout: 180_000,
}, async () => {
  const everywhere = [{ cidrBlock: '0.0.0.0/0', description: 'everybody' }]
  const wanted = { ownerId, name: 'busy', plan: 'free', version: '18', ipAllowList: everywhere, connectionPool: 'pgbouncer' }
  const { id } = await send<Postgres>('POST', '/postgres', wanted)
  await untilAvailable(id)
  const info = await infoOf(id)
  expect(info.internalConnectionPoolString).toContain(`@${id}:6432/`)
  expect(info.externalConnectionPoolString).toContain(`@${id}-pooler.apps.test:${postgresPort}/`)
  const pooled = info.externalConnectionPoolString ?? ''

  const clients = outside(pooled, { max: 80 })
  await until('the pooler answers', async () => (await clients`SELECT 1`.catch(() => [])).length === 1)
  const pids = await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      const [row] = await clients`SELECT ${n}::int AS n, pg_backend_pid() AS pid, pg_sleep(0.005)`
      expect(row.n).toBe(n)
      return row.pid as number
    }),
  )
  expect(new Set(pids).size).toBeGreaterThan(1)
  expect(new Set(pids).size).toBeLessThanOrEqual(40)
  const kept = await clients.begin(async (sql) => {
    await sql`CREATE TABLE kept (n int)`
    await sql`INSERT INTO kept VALUES (1), (2)`
    return await sql`SELECT count(*)::int AS n FROM kept`
  })
  expect(kept[0].n).toBe(2)

  await expect(outside(pooled, { password: 'wrong' })`SELECT 1`).rejects.toThrow()
  for (const role of ['cpd_admin', 'cpd_backup', 'cpd_pool'])
    await expect(outside(pooled.replace(/\/\/[^:]+:/, `//${role}:`))`SELECT 1`).rejects.toThrow("is the platform's own")
  const direct = outside(info.externalConnectionString)
  await expect(direct`SELECT * FROM pg_authid`).rejects.toThrow('permission denied')
  const inPostgres = outside(info.externalConnectionString.replace(/\/[^/]+$/, '/postgres'))
  await expect(inPostgres`SELECT * FROM cpd.secret_of('cpd_admin')`).rejects.toThrow('permission denied')

  const [address = ''] = workloadsOf(platform.db, OWNER_KIND, id).flatMap((workload) => workload.address ?? [])
  const url = new URL(pooled)
  const inside = (username: string) =>
    new SQL({
      adapter: 'postgres',
      hostname: address,
      port: 6432,
      username,
      password: url.password,
      database: 'postgres',
      tls: false,
      max: 1,
    })
  for (const role of ['cpd_admin', 'cpd_pool']) {
    const sql = inside(role)
    open.push(sql)
    await expect(sql`SELECT 1`).rejects.toThrow()
  }

  const [pooler = 0, ...others] = poolers()
  expect([pooler > 0, others]).toEqual([true, []])
  process.kill(pooler, 'SIGKILL')
  await until('the pooler is back', async () => (await outside(pooled)`SELECT n FROM kept`.catch(() => [])).length === 2)
  expect((await direct`SELECT count(*)::int AS n FROM kept`)[0].n).toBe(2)

  await send('POST', `/postgres/${id}/credentials`, {})
  const rotated = await infoOf(id)
  expect(rotated.externalConnectionPoolString).not.toBe(pooled)
  expect((await outside(rotated.externalConnectionPoolString ?? '')`SELECT n FROM kept`).length).toBe(2)

  await send('PATCH', `/postgres/${id}`, { connectionPool: 'none' })
  await untilAvailable(id)
  expect((await infoOf(id)).externalConnectionPoolString).toBeUndefined()
  await until('the name is gone', async () => {
    const reason = await outside(pooled)`SELECT 1`.then(String, String)
    return reason.includes('there is no database at')
  })
})
