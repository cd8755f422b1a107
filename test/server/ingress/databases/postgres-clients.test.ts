import pg from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { type PostgresServer, startPostgresServer } from '../../../support/postgres-server.ts'
import { until } from '../../../support/until.ts'
import { type DatabaseWorld, PG_HOST, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

let server: PostgresServer
let world: DatabaseWorld

beforeAll(async () => {
  ;[server, world] = await Promise.all([startPostgresServer(), startDatabaseWorld()])
  await world.list({ [PG_ID]: postgresAt(server.port) })
})

afterAll(async () => {
  await world?.close()
  await server?.stop()
})

/** The settings of a connection by libpq. */
const connection = (more = ''): string =>
  `host=${PG_HOST} hostaddr=127.0.0.1 port=${world.postgresPort} user=test_user password=pw dbname=test_db sslmode=verify-full sslrootcert=${world.rootFile} ${more}`

async function psql(sql: string, more = ''): Promise<string> {
  const { stdout, stderr } = await runProcess([`${server.programs}/psql`, '-XAtw', connection(more), '-c', sql])
  return (stdout + stderr).trim()
}

test('psql reaches the database that TLS names, with its certificate verified', async () => {
  expect(await psql('SELECT 1 + 1')).toBe('2')
  expect(await psql("SELECT length(string_agg(x::text, '')) FROM generate_series(1, 200000) x")).toBe('1088895')
})

test('Ctrl-C in psql cancels what runs, though it comes in clear and names nothing', async () => {
  const running = spawnProcess([`${server.programs}/psql`, '-XAtw', connection('application_name=slow'), '-c', 'SELECT pg_sleep(600)'], {
    stderr: 'pipe',
  })
  await until('the query runs', async () => (await psql("SELECT count(*) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'")) === '1')
  running.kill('SIGINT')
  expect(await new Response(running.stderr).text()).toContain('canceling statement due to user request')
  await running.exited
})

test('Bun’s own client pools connections, and a large answer arrives whole however slowly it is taken', async () => {
  const tls = { ca: world.root, serverName: PG_HOST }
  const login = { username: 'test_user', password: 'pw', database: 'test_db' }
  const sql = new Bun.SQL({ hostname: '127.0.0.1', port: world.postgresPort, ...login, tls, max: 4 })
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => sql`SELECT ${number}::int AS number`))
  expect(answers.flat().map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
  const [{ text }] = await sql`SELECT repeat('x', 30000000) AS text`
  expect(text).toHaveLength(30_000_000)
  await sql.end()
})

const login = { host: '127.0.0.1', user: 'test_user', password: 'pw', database: 'test_db' }

test('node-postgres asks for TLS, verifies the certificate, and its pool connects again after a loss', async () => {
  const ssl = { ca: world.root, servername: PG_HOST }
  const pool = new pg.Pool({ ...login, port: world.postgresPort, ssl, max: 2 })
  pool.on('error', () => {})
  const { rows } = await pool.query({
    name: 'kept',
    text: 'SELECT $1::jsonb AS doc, $2::int8 AS n',
    values: [{ a: ['ä'] }, '9007199254740993'],
  })
  expect(rows).toEqual([{ doc: { a: ['ä'] }, n: '9007199254740993' }])
  await expect(pool.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' })
  await pool.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => undefined)
  const again = () => pool.query('SELECT 1 AS one').catch(() => undefined)
  expect((await until('it is connected again', again)).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test('postgres.js runs transactions over TLS, and cancels what runs', async () => {
  const sql = postgres({ ...login, port: world.postgresPort, ssl: { ca: world.root, servername: PG_HOST }, max: 2 })
  const names = await sql.begin(async (inside) => {
    await inside`CREATE TEMP TABLE people ON COMMIT DROP AS SELECT ${'Ada'}::text AS name`
    return await inside`SELECT name FROM people`
  })
  expect([...names]).toEqual([{ name: 'Ada' }])
  const running = sql`SELECT pg_sleep(600)`
  const ended = expect(running).rejects.toMatchObject({ code: '57014' })
  await until('it runs', async () => {
    const [found] = await sql`SELECT count(*)::int AS count FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'`
    return found?.count === 1
  })
  running.cancel()
  await ended
  await sql.end()
})
