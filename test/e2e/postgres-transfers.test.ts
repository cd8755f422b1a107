import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SQL } from 'bun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handedOut } from '../../server/apps/datastores/credential-store.ts'
import { endpointOf } from '../../server/apps/datastores/endpoint.ts'
import { ownOf } from '../../server/apps/postgres/session.ts'
import { updateTransfer } from '../../server/apps/transfers/rows/store.ts'
import { fileOf } from '../../server/apps/transfers/work/folders.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import type { Postgres } from '../../shared/postgres.ts'
import type { PostgresExport, PostgresImport } from '../../shared/postgres-transfer.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { addTransfer } from '../support/transfers.ts'
import { until } from '../support/until.ts'

let platform: Platform
const dir = mkdtempSync(join(tmpdir(), 'transfers-'))

beforeAll(async () => {
  platform = await startPlatform({ CP_OUTGOING_ALLOW: '10.0.0.0/8,127.0.0.0/8,172.16.0.0/12' })
}, 60_000)
afterAll(async () => {
  await platform.close()
  rmSync(dir, { recursive: true, force: true })
})

const asAdmin = () => ({ token: platform.adminToken })
const get = async <T>(path: string): Promise<T> => (await call<T>(`${platform.url}/v1/postgres/${path}`, asAdmin())).body
const post = <T>(path: string, json: unknown = {}) => call<T>(`${platform.url}/v1/postgres/${path}`, { ...asAdmin(), method: 'POST', json })

async function makeDatabase(name: string): Promise<string> {
  const { status, body } = await call<Postgres>(`${platform.url}/v1/postgres`, { ...asAdmin(), json: { name } })
  expect({ status, body }).toMatchObject({ status: 201 })
  await until(`${name} is available`, async () => (await get<Postgres>(body.id)).status === 'available')
  return body.id
}

function connectionOf(id: string): { host: string; port: number; user: string; password: string; database: string } {
  const { db, sealer } = platform.context
  const [endpoint, credential] = [endpointOf({ db }, { id }), handedOut(db, sealer, id)]
  if (endpoint === undefined || credential === undefined) throw new Error(`${id} does not run`)
  return { ...endpoint, ...credential, database: ownOf({ db }, { id }).databaseName }
}

async function inDatabase<T>(id: string, use: (sql: SQL) => Promise<T>): Promise<T> {
  const { host: hostname, user: username, ...rest } = connectionOf(id)
  const sql = new SQL({ adapter: 'postgres', hostname, username, ...rest, max: 1, tls: false })
  try {
    return await use(sql)
  } finally {
    await sql.close()
  }
}

const fill = (id: string) =>
  inDatabase(id, async (sql) => {
    await sql.unsafe(`
      CREATE EXTENSION vector; CREATE EXTENSION pgcrypto; CREATE EXTENSION "uuid-ossp";
      CREATE SCHEMA shop;
      CREATE TYPE shop.state AS ENUM ('new', 'paid');
      CREATE TABLE shop.orders (id bigserial PRIMARY KEY, state shop.state NOT NULL, note text, near vector(3), at timestamptz DEFAULT now());
      CREATE VIEW shop.paid AS SELECT * FROM shop.orders WHERE state = 'paid';
      CREATE MATERIALIZED VIEW shop.totals AS SELECT state, count(*) FROM shop.orders GROUP BY state;
      CREATE FUNCTION shop.half(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n / 2; END $$;
      CREATE INDEX ON shop.orders USING hnsw (near vector_l2_ops);
      CREATE TABLE "Odd ""Name" ("Column; DROP" text DEFAULT 'x');
      COMMENT ON TABLE shop.orders IS 'orders of the shop';
      INSERT INTO shop.orders (state, note, near)
        SELECT (CASE WHEN i % 2 = 0 THEN 'paid' ELSE 'new' END)::shop.state, repeat(md5(i::text), 4), ARRAY[i, i + 1, i + 2]::vector FROM generate_series(1, 2000) i;
      INSERT INTO "Odd ""Name" VALUES (E'tab\\there, back\\\\slash, and \\\\.');
      SELECT lo_from_bytea(4711, decode('00ff10', 'hex'));
      CREATE TABLE guarded (i int); INSERT INTO guarded VALUES (1);
      ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
      REFRESH MATERIALIZED VIEW shop.totals;
    `)
  })

const figures = (id: string) =>
  inDatabase(id, async (sql) => {
    const [row] = await sql.unsafe(`SELECT (SELECT count(*) FROM shop.orders)::int AS orders, (SELECT count(*) FROM shop.paid)::int AS paid,
      (SELECT sum(count) FROM shop.totals)::int AS totals, shop.half(10) AS half, nextval('shop.orders_id_seq')::int AS next,
      (SELECT "Column; DROP" FROM "Odd ""Name") AS odd, encode(lo_get(4711), 'hex') AS large,
      (SELECT near <-> '[1,2,3]' FROM shop.orders WHERE id = 1) AS near, obj_description('shop.orders'::regclass) AS comment,
      (SELECT string_agg(DISTINCT tableowner, ',') FROM pg_tables WHERE schemaname IN ('shop', 'public')) AS owner`)
    return row
  })

const expected = {
  ...{ orders: 2000, paid: 1000, totals: 2000, half: 5, next: 2001, odd: 'tab\there, back\\slash, and \\.', large: '00ff10', near: 0 },
  comment: 'orders of the shop',
}

async function exported(id: string): Promise<PostgresExport> {
  const { status, body } = await post<PostgresExport>(`${id}/export`)
  expect({ status, body }).toMatchObject({ status: 202 })
  const list = () => get<PostgresExport[]>(`${id}/export`)
  await until('the export ends', async () => ['succeeded', 'failed'].includes((await list())[0]?.status ?? ''))
  const [found] = await list()
  expect(found).toMatchObject({ id: body.id, status: 'succeeded' })
  return found as PostgresExport
}

async function ended(id: string, begun: { status: number; body: PostgresImport }): Promise<PostgresImport> {
  expect(begun).toMatchObject({ status: 202 })
  const seen = () => get<PostgresImport>(`${id}/import/${begun.body.id}`)
  await until('the import ends', async () => !['waiting', 'running'].includes((await seen()).status))
  return await seen()
}

const send = async (id: string, file: Uint8Array | string, query = '') => {
  const response = await fetch(`${platform.url}/v1/postgres/${id}/import/upload${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.adminToken}`, 'content-type': 'application/octet-stream' },
    body: file as never,
  })
  return { status: response.status, body: (await response.json()) as PostgresImport }
}

describe('a database with extensions, large objects, views and odd names', () => {
  let from: string
  let file: Buffer

  beforeAll(async () => {
    from = await makeDatabase('from')
    await fill(from)
    const made = await exported(from)
    const response = await fetch((made.url ?? '').replace(/^https?:\/\/[^/]+/, platform.url), {
      headers: { authorization: `Bearer ${platform.adminToken}` },
    })
    file = Buffer.from(await response.arrayBuffer())
    expect(createHash('sha256').update(file).digest('hex')).toBe(made.sha256)
  }, 120_000)

  it('comes back from its export as it was', async () => {
    const to = await makeDatabase('to')
    const outcome = await ended(to, await send(to, file))
    expect(outcome).toMatchObject({ status: 'succeeded', skipped: [] })
    expect(await figures(to)).toMatchObject({ ...expected, owner: 'to_user' })
  }, 120_000)

  it('comes from a running database', async () => {
    const to = await makeDatabase('copied')
    const { user, password, host, port, database } = connectionOf(from)
    const url = `postgresql://${user}:${password}@${host}:${port}/${database}?sslmode=disable`
    const outcome = await ended(to, await post<PostgresImport>(`${to}/import`, { url }))
    expect(outcome).toMatchObject({ status: 'succeeded', source: 'database', host })
    expect(await figures(to)).toMatchObject({ ...expected, owner: 'copied_user' })
  }, 120_000)

  /** What pg_dump of the same programs makes. */
  async function dumped(...args: string[]): Promise<Buffer> {
    const { host, port, user, password, database } = connectionOf(from)
    const name = platform.context.programs.available('postgres')[0]?.name ?? ''
    const program = join(await platform.context.programs.ensure(name), 'bin', 'pg_dump')
    const file = join(dir, crypto.randomUUID())
    const { exitCode, stderr } = await runProcess(
      [program, '-h', host, '-p', String(port), '-U', user, '-d', database, '-f', file, ...args],
      {
        env: { PGPASSWORD: password, PATH: '/usr/bin:/bin' },
      },
    )
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    return readFileSync(file)
  }

  it('comes in every format, and replaces what is in the way when told to', async () => {
    const to = await makeDatabase('formats')
    const sql = await dumped('--no-owner', '--no-acl')
    const outcomes = [
      await ended(to, await send(to, await dumped('--format=custom'))),
      await ended(to, await send(to, await dumped('--format=custom'))),
      await ended(to, await send(to, Bun.zstdCompressSync(await dumped('--format=tar')), '?clean=true')),
    ]
    expect(outcomes.map(({ status }) => status)).toEqual(['succeeded', 'failed', 'succeeded'])
    expect(outcomes[1]?.reason).toMatch(/already exists/)
    expect(outcomes[1]?.reason).toMatch(/--clean/)
    expect(await figures(to)).toMatchObject(expected)
    const plain = await makeDatabase('plain')
    const cut = await ended(plain, await send(plain, sql.subarray(0, sql.length - 2000)))
    expect(cut).toMatchObject({ status: 'failed', reason: expect.stringMatching(/ends before its end/) })
    expect(await ended(plain, await send(plain, gzipSync(sql)))).toMatchObject({ status: 'succeeded' })
    expect(await figures(plain)).toMatchObject({ ...expected, owner: 'plain_user' })
  }, 180_000)
})

describe('a dump that somebody hostile wrote', () => {
  let id: string
  beforeAll(async () => {
    id = await makeDatabase('target')
  }, 60_000)

  const tablesOf = () => inDatabase(id, async (sql) => (await sql`SELECT relname FROM pg_class WHERE relname LIKE 'half%'`).length)

  it.each([
    ['a command of the shell', 'CREATE TABLE half (i int);\n\\! touch /tmp/canary\n', /commands of psql/],
    ['a broken archive', `PGDMP${'x'.repeat(2000)}`, /newer pg_dump|damaged|failed/],
  ])(
    'with %s is refused, and nothing of it is in',
    async (_, file, reason) => {
      const outcome = await ended(id, await send(id, file))
      expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) })
      expect(await tablesOf()).toBe(0)
    },
    60_000,
  )

  it('leaves neither a role, a file nor a user of the machine behind', async () => {
    expect(existsSync('/tmp/canary')).toBe(false)
    expect(readdirSync(platform.context.paths.transfers).filter((name) => name.startsWith('imp-'))).toEqual([])
    expect(readdirSync(platform.context.paths.services).filter((name) => name.startsWith('imp-'))).toEqual([])
    const roles = await inDatabase(id, async (sql) => sql`SELECT rolname FROM pg_roles WHERE rolname IN ('cpd_export', 'cpd_import')`)
    expect([...roles]).toEqual([])
  })
})

describe('what is in the middle', () => {
  it('has failed where the control plane was another one, and nothing of it stays', async () => {
    const id = await makeDatabase('cut')
    const workspaceId =
      platform.db.query<{ workspace_id: string }, [string]>('SELECT workspace_id FROM datastores WHERE id = ?').get(id)?.workspace_id ?? ''
    const begun = addTransfer(platform, { workspaceId, datastoreId: id, kind: 'export', file: 'half of it' })
    updateTransfer(platform.db, begun, { status: 'running', sizeBytes: null, completedAt: null })
    platform.context.work.poke('datastore', id)
    const list = () => get<PostgresExport[]>(`${id}/export`)
    await until('it is seen', async () => (await list())[0]?.status === 'failed')
    expect((await list())[0]?.reason).toMatch(/Start it again/)
    expect(existsSync(fileOf(platform.context.paths, { id: begun }))).toBe(false)
  }, 60_000)

  it('ends when it is canceled, and the other database is told of as such', async () => {
    const id = await makeDatabase('stopped')
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    try {
      const url = `postgresql://a:word-that-is-secret@127.0.0.1:${silent.port}/c?sslmode=disable`
      const begun = await post<PostgresImport>(`${id}/import`, { url })
      await until('it runs', async () => (await get<PostgresImport>(`${id}/import/${begun.body.id}`)).progress?.phase === 'starting')
      expect(await post(`${id}/export`)).toMatchObject({ status: 409 })
      await post(`${id}/import/${begun.body.id}/cancel`)
      expect(await ended(id, begun)).toMatchObject({ status: 'canceled', host: '127.0.0.1' })
      expect(JSON.stringify(platform.logged)).not.toContain('word-that-is-secret')
    } finally {
      silent.stop(true)
    }
  }, 60_000)
})

it('a download goes on where it was cut off', async () => {
  const id = await makeDatabase('ranges')
  const made = await exported(id)
  const url = `${platform.url}/v1/postgres/${id}/export/${made.id}/file`
  const part = async (headers: Record<string, string>) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${platform.adminToken}`, ...headers } })
    return { status: response.status, range: response.headers.get('content-range'), bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const whole = await part({})
  const [head, rest] = [await part({ range: 'bytes=0-99' }), await part({ range: 'bytes=100-', 'if-range': `"${made.sha256}"` })]
  expect([head.status, rest.status, rest.range]).toEqual([206, 206, `bytes 100-${(made.sizeBytes ?? 0) - 1}/${made.sizeBytes}`])
  expect(Buffer.concat([head.bytes, rest.bytes]).equals(whole.bytes)).toBe(true)
  expect((await part({ range: 'bytes=100-', 'if-range': '"another"' })).status).toBe(200)
  expect((await fetch(url)).status).toBe(401)
  expect((await call(`${platform.url}/v1/postgres/${id}`, { ...asAdmin(), method: 'DELETE' })).status).toBe(204)
  await until('the database is gone', async () => (await call(`${platform.url}/v1/postgres/${id}`, asAdmin())).status === 404)
  expect((await part({})).bytes.equals(whole.bytes)).toBe(true)
  expect((await call(`${platform.url}/v1/postgres/${id}/export/${made.id}`, { ...asAdmin(), method: 'DELETE' })).status).toBe(204)
  await until('its file is gone', () => !existsSync(fileOf(platform.context.paths, made)))
}, 120_000)
