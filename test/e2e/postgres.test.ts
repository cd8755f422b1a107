import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { connectPostgres, type PostgresConnection, type PostgresTarget } from '../../server/platform/postgres/connect.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

let platform: Platform
let database: Postgres
beforeAll(async () => {
  platform = await startPlatform()
  const { body } = await call<Postgres>(`${platform.url}/v1/postgres`, { token: platform.adminToken, json: { name: 'shop' } })
  database = await isAvailable(body.id)
}, 60_000)
afterAll(() => platform.close())

const path = () => `${platform.url}/v1/postgres/${database.id}`
const asAdmin = () => ({ token: platform.adminToken })

async function isAvailable(id: string): Promise<Postgres> {
  return await until('the database is available', async () => {
    const { body } = await call<Postgres>(`${platform.url}/v1/postgres/${id}`, asAdmin())
    return body.status === 'available' && body
  })
}

const running = () => workloadsOf(platform.db, 'datastore', database.id).find(({ phase }) => phase === 'running')

async function connect(as: Partial<Pick<PostgresTarget, 'user' | 'password' | 'settings'>> = {}): Promise<PostgresConnection> {
  const { body } = await call<PostgresConnectionInfo>(`${path()}/connection-info`, asAdmin())
  const { username, pathname } = new URL(body.internalConnectionString)
  const { address, port } = running() ?? {}
  const own = { user: username, password: body.password, database: pathname.slice(1), ...as }
  return await connectPostgres({ host: address ?? '', port: port ?? 0, ...own })
}

test('a tenant makes tables and trusted extensions, and comes out of the database by none of the known ways', async () => {
  const sql = await connect()
  await sql.run('CREATE TABLE kept (a int); INSERT INTO kept VALUES (1); CREATE EXTENSION IF NOT EXISTS pgcrypto')
  expect(await sql.run('SELECT count(*)::int AS count FROM pg_stat_statements LIMIT 1')).toHaveLength(1)
  const theReceiver = "FROM pg_stat_activity WHERE usename = 'cpd_backup'"
  await until('its log is received', async () => (await sql.run(`SELECT 1 ${theReceiver}`)).length > 0)
  for (const hostile of [
    "COPY kept TO PROGRAM 'id'",
    "COPY kept FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    'CREATE EXTENSION dblink',
    'CREATE EXTENSION postgres_fdw',
    'CREATE EXTENSION file_fdw',
    "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc.so.6', 'system'",
    'SET ROLE cpd_admin',
    'ALTER ROLE cpd_admin PASSWORD NULL',
    "ALTER ROLE cpd_backup PASSWORD 'known'",
    'ALTER ROLE CURRENT_USER SUPERUSER',
    'ALTER ROLE CURRENT_USER REPLICATION',
    'CREATE ROLE another SUPERUSER',
    'GRANT pg_execute_server_program TO CURRENT_USER',
    'GRANT pg_read_server_files TO CURRENT_USER',
    "ALTER SYSTEM SET archive_command = 'id'",
    "SET session_preload_libraries = 'evil'",
    'SELECT pg_reload_conf()',
    'SELECT * FROM pg_authid',
    "SELECT pg_read_binary_file('postgresql.auto.conf')",
    "COPY kept TO '/tmp/kept'",
    "ALTER SYSTEM SET work_mem = '1GB'",
    'ALTER SYSTEM RESET ALL',
    'ALTER DATABASE postgres ALLOW_CONNECTIONS false',
    "ALTER DATABASE postgres SET search_path = 'evil'",
    'ALTER DATABASE template1 IS_TEMPLATE false',
    "ALTER DATABASE shop SET session_preload_libraries = 'evil'",
    "ALTER ROLE cpd_admin SET statement_timeout = '1ms'",
    "ALTER ROLE ALL SET statement_timeout = '1ms'",
    "ALTER ROLE cpd_backup VALID UNTIL '2000-01-01'",
    'ALTER ROLE cpd_backup RENAME TO mine',
    'DROP ROLE cpd_backup',
    'GRANT cpd_admin TO CURRENT_USER',
    'GRANT cpd_backup TO CURRENT_USER',
    'GRANT pg_signal_backend TO CURRENT_USER',
    'GRANT pg_monitor TO CURRENT_USER',
    'CREATE ROLE pg_mine',
    'CREATE ROLE another REPLICATION',
    'CREATE ROLE another BYPASSRLS',
    'REASSIGN OWNED BY cpd_admin TO CURRENT_USER',
    'CREATE EVENT TRIGGER evil ON ddl_command_start EXECUTE FUNCTION pg_catalog.version()',
    "CREATE SUBSCRIPTION evil CONNECTION 'host=127.0.0.1' PUBLICATION evil",
    'CREATE PUBLICATION evil FOR ALL TABLES',
    "CREATE TABLESPACE evil LOCATION '/tmp'",
    "SELECT pg_create_physical_replication_slot('evil')",
    "SELECT pg_drop_replication_slot('cpd')",
    `SELECT pg_terminate_backend(pid) ${theReceiver}`,
    "SELECT pg_backup_start('evil')",
    'SELECT pg_switch_wal()',
    'SELECT pg_promote()',
    'SELECT pg_wal_replay_pause()',
    'SELECT pg_rotate_logfile()',
    'SELECT pg_ls_waldir()',
    'SELECT pg_stat_statements_reset()',
    "SELECT lo_export(1, '/tmp/evil')",
    'SET session_authorization = cpd_admin',
    'SET session_replication_role = replica',
    'SET zero_damaged_pages = on',
    "LOAD 'auto_explain'",
  ])
    await expect(sql.run(hostile), hostile).rejects.toThrow()
  const untrusted = await sql.run('SELECT DISTINCT name FROM pg_available_extension_versions WHERE superuser AND NOT trusted')
  expect(untrusted.map(({ name }) => name)).toEqual(expect.arrayContaining(['dblink', 'postgres_fdw', 'file_fdw', 'pageinspect']))
  for (const { name } of untrusted) await expect(sql.run(`CREATE EXTENSION "${name}"`), String(name)).rejects.toThrow()
  await sql.close()
  await expect(connect({ user: 'cpd_admin' })).rejects.toThrow()
})

test('limits of time that an owner sets for all do not end what the platform asks', async () => {
  const sql = await connect()
  for (const limit of ['transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout'])
    await sql.run(`ALTER DATABASE ${database.databaseName} SET ${limit} = '1ms'`)
  await sql.close()
  expect(await call(`${path()}/connections`, asAdmin())).toMatchObject({ status: 200 })
  const { body } = await call<{ username: string }>(`${path()}/credentials`, { ...asAdmin(), json: {} })
  const other = (await call<{ username: string }[]>(`${path()}/credentials`, asAdmin())).body.find(
    ({ username }) => username !== body.username,
  )
  expect((await call(`${path()}/credentials/${other?.username}`, { ...asAdmin(), method: 'DELETE' })).status).toBe(204)
  // A millisecond is over before a busy machine has answered.
  const again = await connect({ settings: { transaction_timeout: '0', idle_in_transaction_session_timeout: '0', lock_timeout: '0' } })
  expect(await again.run('SELECT a FROM kept')).toEqual([{ a: 1 }])
  await again.run(`ALTER DATABASE ${database.databaseName} RESET ALL`)
  await again.close()
})

test('a server that is killed comes up again by itself with what was committed', async () => {
  const before = running()
  const pid = platform.context.engine.name === 'process' ? await leaderOf(before?.id ?? '') : 0
  process.kill(pid, 'SIGKILL')
  await until('it was started again', () => (running()?.restarts ?? 0) > (before?.restarts ?? 0))
  await isAvailable(database.id)
  const sql = await connect()
  expect(await sql.run('SELECT a FROM kept')).toEqual([{ a: 1 }])
  await sql.close()
}, 60_000)

async function leaderOf(id: string): Promise<number> {
  const record = await Bun.file(join(platform.dataDir, 'run/instances/instances', id, 'process')).text()
  return Number(record.split(' ')[0])
}

test('another plan and a larger disk are in force after a moment, and nothing of a deleted one is left', async () => {
  await call(path(), { ...asAdmin(), method: 'PATCH', json: { plan: 'basic_1gb', diskSizeGB: 2 } })
  await until('it has grown', async () => (await isAvailable(database.id)).diskSizeGB === 2)
  const { volumeId = '' } = datastoreById(platform.db, database.id) ?? {}
  expect(await platform.context.engine.volumes.list()).toContain(volumeId)
  expect((await call(path(), { ...asAdmin(), method: 'DELETE' })).status).toBe(204)
  await until('it is removed', () => datastoreById(platform.db, database.id) === undefined)
  expect(await platform.context.engine.volumes.list()).not.toContain(volumeId)
  expect(existsSync(join(platform.dataDir, 'services', database.id))).toBe(false)
}, 60_000)
