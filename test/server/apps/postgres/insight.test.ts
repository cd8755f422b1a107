import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresConnections, PostgresLock, PostgresStatement, PostgresTable } from '../../../../shared/postgres-insight.ts'
import { type CallOptions, call } from '../../../support/client.ts'
import { addLiveDatabase, tenant } from '../../../support/live-database.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { type PostgresServer, startPostgresServer } from '../../../support/postgres-server.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { until } from '../../../support/until.ts'

let server: TestServer
let postgres: PostgresServer
let id: string
let admin: SQL
const open: SQL[] = []

beforeAll(async () => {
  postgres = await startPostgresServer('shared_preload_libraries=pg_stat_statements')
  const { port } = postgres
  admin = new SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port,
    username: 'cpd_admin',
    password: 'pw',
    database: 'postgres',
    max: 1,
    tls: false,
  })
  server = await startTestServer()
  id = await addLiveDatabase(server, await defaultWorkspaceId(server), postgres)
}, 60_000)
afterAll(async () => {
  await admin.close({ timeout: 0 })
  for (const sql of open) await sql.close({ timeout: 0 })
  await server.close()
  await postgres.stop()
})

const ask = <T>(path: string, options: CallOptions = {}) =>
  call<T>(`${server.url}/v1/postgres/${id}${path}`, { token: server.adminToken, ...options })

function connect(): SQL {
  const { user: username, password, database } = tenant
  const sql = new SQL({ adapter: 'postgres', hostname: '127.0.0.1', port: postgres.port, username, password, database, max: 1, tls: false })
  open.push(sql)
  return sql
}

describe('what a database does', () => {
  it('is told by the statements that were run, without their values', async () => {
    const sql = connect()
    await sql`CREATE TABLE things (id int PRIMARY KEY, name text)`
    await sql.unsafe("INSERT INTO things SELECT n, 'a secret' FROM generate_series(1, 500) n")
    await sql`DELETE FROM things WHERE id > 250`
    await sql`SELECT pg_stat_force_next_flush()`
    const { status, body } = await ask<PostgresStatement[]>('/queries?order=calls')
    expect(status).toBe(200)
    const insert = body.find(({ query }) => query.startsWith('INSERT INTO things'))
    expect(insert).toMatchObject({ user: tenant.user, calls: 1, rows: 500 })
    expect(JSON.stringify(body)).not.toContain('a secret')
    await ask('/bloat')
    const again = await ask<PostgresStatement[]>('/queries')
    expect(again.body.filter(({ query }) => /pg_stat_statements|pg_stat_user_tables|pg_extension/.test(query))).toEqual([])
  })

  it('is told by its tables, the dead rows in them too', async () => {
    const things = await until('the figures are there', async () => {
      const table = (await ask<PostgresTable[]>('/bloat')).body.find(({ table: name }) => name === 'things')
      return (table?.deadRows ?? 0) > 0 && table
    })
    expect(things).toMatchObject({ schema: 'public', deadRows: 250, vacuumedAt: null })
  })

  it('is told by who waits and for whom, and ends when it is canceled', async () => {
    const [holder, waiter] = [connect(), connect()]
    await holder.unsafe('BEGIN; LOCK TABLE things IN ACCESS EXCLUSIVE MODE').simple()
    const waiting = waiter`SELECT count(*) FROM things`.then(
      () => 'went on',
      (error: Error) => error.message,
    )
    const [lock] = await until('it waits', async () => {
      const { body } = await ask<PostgresLock[]>('/locks')
      return body.length > 0 && body
    })
    expect(lock).toMatchObject({ user: tenant.user, relation: 'public.things', query: expect.stringContaining('count(*)') })
    const { body } = await ask<PostgresConnections>('/connections')
    const blocking = lock?.blockedBy[0]?.pid
    expect(body.connections.find(({ pid }) => pid === blocking)).toMatchObject({ state: 'idle in transaction', database: tenant.database })
    expect(body.open).toBeGreaterThanOrEqual(2)

    expect(await ask(`/queries/${lock?.pid}/cancel`, { method: 'POST' })).toMatchObject({ status: 202 })
    expect(await waiting).toContain('canceling statement')
    expect(await ask(`/queries/${blocking}/cancel`, { json: { terminate: true } })).toMatchObject({ status: 202 })
    await until('its connection has ended', async () => (await ask(`/queries/${blocking}/cancel`, { method: 'POST' })).status === 404)
  })

  it('runs nothing of a tenant’s in the name of the platform', async () => {
    const sql = connect()
    await sql
      .unsafe(
        'CREATE FUNCTION evil() RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE $q$ALTER ROLE app_user SUPERUSER$q$; RETURN 1; END $$',
      )
      .simple()
    await sql.unsafe('ALTER DATABASE app SET search_path = public, pg_catalog').simple()
    for (const view of ['pg_stat_user_tables', 'pg_extension', 'pg_roles', 'pg_stat_activity'])
      await sql.unsafe(`CREATE VIEW public.${view} AS SELECT public.evil()`).simple()
    for (const path of ['/queries', '/connections', '/locks', '/bloat', '/credentials'])
      expect(await ask(path)).toMatchObject({ status: 200 })
    expect(await admin`SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = 'app_user'`.then(([row]) => row)).toEqual({
      rolsuper: false,
    })
  })

  it('ends no connection of the platform’s own, and takes no nonsense', async () => {
    const [own] = await admin`SELECT pg_backend_pid() AS pid`
    expect(await ask(`/queries/${own.pid}/cancel`, { json: { terminate: true } })).toMatchObject({ status: 404 })
    for (const pid of ['0', '-1', 'x', '99999999999'])
      expect(await ask(`/queries/${pid}/cancel`, { method: 'POST' })).toMatchObject({ status: 404 })
  })

  it('is told of none that does not run', async () => {
    server.db.query("UPDATE workloads SET phase = 'ended' WHERE owner_id = ?").run(id)
    expect(await ask('/connections')).toMatchObject({ status: 409, body: { message: expect.stringContaining('does not run now') } })
  })
})
