import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { exampleDatabase as database, pageOf } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const { id, createdAt: at } = database

function serving(answers: Answers) {
  server = startFakeServer({ listPostgres: () => pageOf('postgres', [database]), ...answers })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(['postgres', ...argv], { columns: 200, ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test', ...options.env } })
}

test('users are listed, made and deleted, and it is said what to do next', async () => {
  const user = { username: 'shop_user', default: true, createdAt: at, openConnections: 3 }
  const run = serving({
    listPostgresCredentials: () => [user],
    createPostgresCredential: () => ({ ...user, username: 'next', password: 'word' }),
    deletePostgresCredential: () => undefined,
  })
  expect((await run(['credentials', 'list', 'shop'])).stdout).toMatch(/shop_user +yes +3/)
  const rotated = await run(['credentials', 'rotate', 'shop', '--user', 'next', '--keep-for', '24'])
  expect(rotated.stdout).toContain('The others can connect for 24 hours.')
  expect(rotated.stdout).not.toContain('word')
  expect(server.received.at(-1)?.body).toEqual({ username: 'next', formerValidHours: 24 })
  expect((await run(['credentials', 'delete', 'shop', 'shop_user'])).exitCode).toBe(2)
  expect((await run(['credentials', 'delete', 'shop', 'shop_user', '--yes'])).stdout).toBe('shop_user cannot connect to shop any more.\n')
})

test('what a database does is shown on a line each', async () => {
  const session = { pid: 7, user: 'shop_user', state: 'active', query: 'SELECT\n  1' }
  const run = serving({
    getPostgresConnections: () => ({
      ...{ limit: 100, open: 1, cacheHitRatio: 0.995 },
      connections: [
        { ...session, database: 'shop', application: 'web', waitsFor: null, connectedAt: at, stateMs: 1500, transactionMs: null },
      ],
    }),
    listPostgresQueries: () => [
      { ...{ query: 'SELECT $1', user: 'shop_user', calls: 4, totalMs: 40, meanMs: 10, maxMs: 20, rows: 4 }, cacheHitRatio: null },
    ],
    listPostgresLocks: () => [
      { ...session, waitMs: 2000, lock: 'ShareLock on transactionid', relation: null, blockedBy: [{ ...session, pid: 8 }] },
    ],
    listPostgresBloat: () => [],
    cancelPostgresQuery: () => undefined,
  })
  const top = (await run(['top', 'shop'])).stdout
  expect(top).toContain('1 of 100 connections, 99.5 % of the pages found in memory')
  expect(top).toMatch(/7 +shop_user +web +active +1.5 s +SELECT 1/)
  expect((await run(['queries', 'shop', '--sort', 'calls'])).stdout).toMatch(/4 +40 ms +10 ms +20 ms +4 +- +SELECT \$1/)
  expect((await run(['locks', 'shop'])).stdout).toMatch(/ShareLock on transactionid +8 \(active\) +SELECT 1/)
  expect((await run(['bloat', 'shop'])).stderr).toContain('There are no tables yet.')
  expect((await run(['kill', 'shop', '7', '--terminate'])).stdout).toBe('Asked shop to end connection 7.\n')
  expect((await run(['kill', 'shop', 'x'])).exitCode).toBe(2)
})

test('a name that is nearly right is told', async () => {
  const run = serving({})
  expect((await run(['top', 'shpo'])).stderr).toContain('Did you mean shop?')
})

test('a database is created, and waited for until it is there', async () => {
  const statuses: Postgres['status'][] = ['creating', 'available']
  const run = serving({
    createPostgres: () => ({ ...database, status: 'creating' }),
    getPostgres: () => ({ ...database, status: statuses.shift() ?? 'available' }),
  })
  const made = await run(['create', 'shop', '--plan', 'basic_1gb', '--disk', '5', '--set', 'work_mem=16MB', '--allow-ip', 'nobody'])
  expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`Created shop (${id}): available.`) })
  expect(made.stderr).toContain('shop is creating')
  const body = { name: 'shop', plan: 'basic_1gb', diskSizeGB: 5, parameterOverrides: { work_mem: '16MB' }, ipAllowList: [] }
  expect(server.received.find((call) => call.id === 'createPostgres')?.body).toEqual(body)
  expect((await run(['create', 'shop', '--set', 'work_mem'])).exitCode).toBe(2)
})

test('databases are listed, shown, changed, stopped, started and deleted', async () => {
  const run = serving({
    getPostgres: () => database,
    getPostgresConnectionInfo: () => ({
      password: 'p',
      internalConnectionString: `postgresql://u:p@${id}/shop`,
      externalConnectionString: '',
      psqlCommand: '',
    }),
    updatePostgres: () => database,
    suspendPostgres: () => undefined,
    resumePostgres: () => undefined,
    restartPostgres: () => undefined,
    deletePostgres: () => undefined,
  })
  expect((await run(['list'])).stdout).toMatch(/shop +dpg-\w+-a +basic_256mb +1 GB +18 +primary +available/)
  expect((await run(['get', 'shop'])).stdout).toContain('nobody from outside')
  expect((await run(['info', 'shop'])).stdout).toContain(`postgresql://u:p@${id}/shop`)
  expect((await run(['update', 'shop'])).exitCode).toBe(2)
  expect((await run(['update', 'shop', '--no-autoscale', '--name', 'store'])).stdout).toBe('Changed shop: the name store.\n')
  expect(server.received.at(-1)?.body).toEqual({ name: 'store', enableDiskAutoscaling: false })
  expect((await run(['suspend', 'shop'])).stdout).toContain('cpctl postgres resume shop')
  expect((await run(['resume', 'shop'])).stdout).toBe('shop is available.\n')
  expect((await run(['restart', 'shop'])).stdout).toBe('shop is available.\n')
  expect((await run(['delete', 'shop'])).exitCode).toBe(2)
  expect((await run(['delete', 'shop', '--yes'])).stdout).toMatch(/^Deleted shop\.\n.*cpctl postgres recover dpg-/)
})

test('who types SQL to a suspended database is told so, and who waits for one that does not come up, where to look', async () => {
  const suspended = { ...database, status: 'suspended' as const }
  const run = serving({ listPostgres: () => pageOf('postgres', [suspended]) })
  const { exitCode, stderr } = await run(['psql', 'shop', '-c', 'SELECT 1'])
  expect(exitCode).toBe(1)
  expect(stderr).toBe('Error: shop is suspended.\ncpctl postgres resume shop starts it.\n')
  await server.stop()
  const statuses = ['creating', 'unavailable', 'available'] as const
  let asked = 0
  const waiting = serving({
    createPostgres: () => ({ ...database, status: statuses[0] }),
    getPostgres: () => ({ ...database, status: statuses[++asked] ?? 'available' }),
  })
  expect((await waiting(['create', 'shop'])).stderr).toMatch(/shop is creating …\nshop is unavailable, .*cpctl events --service shop/)
})

test('a refused deletion tells who refers to the database, a line each', async () => {
  const details = [{ path: '', message: 'web (DATABASE_URL), srv-1, refers to it' }]
  const run = serving({
    deletePostgres: () => {
      throw new AppError('conflict', 'Variables refer to shop: web (DATABASE_URL).', { details })
    },
  })
  expect((await run(['delete', 'shop', '--yes'])).stderr).toContain('\n  web (DATABASE_URL), srv-1, refers to it\n')
})

test('what a change does is told before and after it, and it asks before somebody is cut off', async () => {
  const open = { ...database, ipAllowList: [{ cidrBlock: '0.0.0.0/0', description: '' }], parameterOverrides: { work_mem: '8MB' } }
  const statuses: Postgres['status'][] = ['config_restart', 'available']
  let kept = true
  const changed = () => ({ ...open, parameterOverrides: kept ? { max_connections: '60' } : open.parameterOverrides })
  const run = serving({
    listPostgres: () => pageOf('postgres', [open]),
    updatePostgres: () => ({ ...changed(), status: 'config_restart' }),
    getPostgres: () => ({ ...changed(), status: statuses.shift() ?? 'available' }),
  })
  const narrowed = ['update', 'shop', '--allow-ip', '203.0.113.0/24']
  expect(await run(narrowed)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('who connects from 0.0.0.0/0 is cut off') })
  expect(server.received.some((call) => call.id === 'updatePostgres')).toBe(false)
  expect((await run(narrowed, { typed: ['shop'] })).stdout).toBe('Changed shop: allowed: 203.0.113.0/24.\n')
  const restarted = await run(['update', 'shop', '--set', 'max_connections=60'])
  expect(restarted.stderr).toContain('shop restarts for this')
  expect(restarted.stdout).toMatch(/^Changed shop: max_connections=60, work_mem as the plan has it\.\nIt restarted, and is available after/)
  kept = false
  const reverted = await run(['update', 'shop', '--set', 'max_connections=60'])
  expect(reverted).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('did not come up with max_connections=60') })
  expect((await run(['update', 'shop', '--plan', database.plan])).stdout).toBe('shop is as that already.\n')
})

test('read replicas and a standby are asked for, and a list of replicas is changed name by name', async () => {
  const replica = { id: `${id.slice(0, -1)}b`, name: 'reads' }
  const followed = { ...database, readReplicas: [replica], highAvailabilityEnabled: true }
  const event = { id: 'evt-0b1c2d3e4f5g6h7i8j9k', timestamp: database.createdAt, serviceId: id }
  const happened = [{ ...event, type: 'postgres_cluster_leader_changed', details: {} }]
  const run = serving({
    listPostgres: () => pageOf('postgres', [followed]),
    createPostgres: () => database,
    getPostgres: () => followed,
    updatePostgres: () => database,
    failoverPostgres: () => undefined,
    listPostgresEvents: () => pageOf('event', happened),
  })
  await run(['create', 'shop', '--read-replica', 'reads', '--high-availability'])
  expect(server.received.find((call) => call.id === 'createPostgres')?.body).toEqual({
    ...{ name: 'shop', enableHighAvailability: true, readReplicas: [{ name: 'reads' }] },
  })
  const exchange = ['update', 'shop', '--add-replica', 'more', '--remove-replica', 'reads']
  expect(await run(exchange)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('the read replica reads is deleted') })
  await run([...exchange, '--yes'])
  expect(server.received.at(-1)?.body).toEqual({ readReplicas: [{ name: 'more' }] })
  expect((await run(['update', 'shop', '--remove-replica', 'none'])).stderr).toContain('It has: reads.')
  expect((await run(['get', 'shop'])).stdout).toMatch(/Standby: +on the same machine\nReplicas: +reads/)
  expect((await run(['failover', 'shop'])).stdout).toBe('shop is available.\n')
  happened[0] = { ...event, type: 'postgres_failover_failed', details: { reason: 'The standby lacks something.' } }
  expect(await run(['failover', 'shop'])).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('lacks something') })
})

test('pgcli is given its way in, and the password in its environment alone', async () => {
  const folder = await temporaryFolder()
  const told = join(folder.path, 'told')
  const way = { internalConnectionString: `postgresql://u:pw@${id}/shop`, externalConnectionString: '', psqlCommand: '' }
  const run = serving({ getPostgresConnectionInfo: () => ({ ...way, password: 'pw' }) })
  const env = { PATH: folder.path }
  expect(await run(['pgcli', 'shop'], { env })).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('pipx install pgcli') })
  await writeFile(join(folder.path, 'pgcli'), `#!/bin/sh\necho "$@" "$PGPASSWORD $PGAPPNAME" >'${told}'\nexit 3\n`, { mode: 0o700 })
  expect(await run(['pgcli', 'shop', '--', '--less-chatty'], { env })).toMatchObject({ exitCode: 3, stderr: '' })
  const given = await readFile(told, 'utf8')
  await folder.remove()
  expect(given).toMatch(/^-h 127\.0\.0\.1 -p \d+ -U u -d shop --less-chatty pw pgcli\n$/)
})

test('an upgrade is followed to its end and taken back, and tells why it was refused', async () => {
  const upgrade = { fromVersion: '15', toVersion: '18', startedAt: database.createdAt }
  const [under, over] = [
    { ...database, version: '15', status: 'updating_instance', upgrade: { ...upgrade, status: 'in_progress', step: 'linking' } },
    {
      ...database,
      upgrade: { ...upgrade, status: 'succeeded', step: 'settling', rollbackTo: database.createdAt, rollbackUntil: '2030-01-02T03:04:05Z' },
    },
  ] as const
  let now: unknown = over
  const run = serving({
    listPostgres: () => pageOf('postgres', [over]),
    getPostgres: () => now,
    updatePostgres: () => under,
    rollBackPostgres: () => undefined,
    confirmUpgradedPostgres: () => undefined,
  })
  expect((await run(['upgrade', 'shop'])).exitCode).toBe(2)
  const done = await run(['upgrade', 'shop', '--yes'])
  expect(server.received.find((call) => call.id === 'updatePostgres')?.body).toEqual({ version: '18' })
  expect(done.stderr).toContain('its data is brought to the new version')
  expect(done.stdout).toContain('shop is of PostgreSQL 18: available.\nUntil 2030-01-02T03:04:05Z cpctl postgres upgrade shop --rollback')
  const confirmed = await run(['upgrade', 'shop', '--confirm', '--yes'])
  expect(confirmed.stdout).toContain('What shop was as PostgreSQL 15 is removed')
  expect(confirmed.stdout).toContain('The upgrade of shop is confirmed.')
  expect((await run(['upgrade', 'shop', '--confirm', '--rollback', '--yes'])).exitCode).toBe(2)
  now = { ...database, version: '15', upgrade: { ...upgrade, status: 'rolled_back', step: 'returned' } }
  expect((await run(['upgrade', 'shop', '--rollback', '--yes'])).stdout).toContain(
    `All that was written since ${database.createdAt} is lost`,
  )
  now = { ...database, version: '15', upgrade: { ...upgrade, status: 'failed', step: 'failed', reason: 'A library is missing.' } }
  expect(await run(['upgrade', 'shop', '--yes'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('as before. A library is missing.'),
  })
})
