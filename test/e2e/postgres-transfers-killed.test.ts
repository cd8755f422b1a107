import { Database } from 'bun:sqlite'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Postgres, PostgresConnectionInfo } from '../../shared/postgres.ts'
import type { PostgresExport, PostgresImport } from '../../shared/postgres-transfer.ts'
import { call } from '../support/client.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { until } from '../support/until.ts'

let plane: ControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
}, 60_000)
afterAll(() => plane.close(), 60_000)

const LONG_MS = 120_000
const ROWS = 30_000

const ask = async <T>(path: string, options: { method?: string; json?: unknown; raw?: Uint8Array } = {}): Promise<T> =>
  (await call<T>(`${plane.url}/v1/postgres${path}`, { token: plane.adminToken, ...(options as object) })).body

async function makeDatabase(name: string): Promise<string> {
  const { status, body } = await call<Postgres>(`${plane.url}/v1/postgres`, { token: plane.adminToken, json: { name } })
  expect({ status, body }).toMatchObject({ status: 201 })
  const { id } = body
  await until(`${name} is available`, async () => (await ask<Postgres>(`/${id}`)).status === 'available', LONG_MS)
  return id
}

/** Nobody else opens the database of a control plane that runs: a copy of its files is looked at. */
function serverOf(id: string): { address: string; port: number } | null {
  const copy = mkdtempSync(join(tmpdir(), 'control-'))
  for (const name of ['control.db', 'control.db-wal']) cpSync(join(plane.dataDir, 'db', name), join(copy, name))
  const control = new Database(join(copy, 'control.db'))
  const query = "SELECT address, port FROM workloads WHERE owner_id = ? AND phase = 'running'"
  const server = control.query<{ address: string; port: number }, [string]>(query).get(id)
  control.close()
  rmSync(copy, { recursive: true, force: true })
  return server
}

async function inDatabase<T>(id: string, use: (sql: SQL) => Promise<T>): Promise<T> {
  const { internalConnectionString } = await ask<PostgresConnectionInfo>(`/${id}/connection-info`)
  const { username, password, pathname } = new URL(internalConnectionString)
  const server = serverOf(id)
  const target = { hostname: server?.address ?? '', port: server?.port ?? 0, username, password, database: pathname.slice(1) }
  const sql = new SQL({ adapter: 'postgres', ...target, max: 1, tls: false })
  try {
    return await use(sql)
  } finally {
    await sql.close()
  }
}

/** About a hundred megabytes that cannot be packed much. */
const fill = (id: string) =>
  inDatabase(id, async (sql) => {
    await sql.unsafe(`CREATE TABLE big AS SELECT i, (SELECT string_agg(md5((i * 100 + j)::text), '') FROM generate_series(1, 100) j) AS words
      FROM generate_series(1, ${ROWS}) i`)
    await sql.unsafe('ALTER TABLE big ADD PRIMARY KEY (i)')
  })

const isMoving = ({ status, progress }: PostgresExport | PostgresImport) => {
  expect(['waiting', 'running']).toContain(status)
  return (progress?.bytes ?? 0) > 1_000_000
}

const leftovers = () =>
  ['transfers', 'services', 'backups/restores'].flatMap((folder) => {
    const names = readdirSync(join(plane.dataDir, folder)).filter((name) => /^(?:exp|imp)-/.test(name))
    return names.map((name) => `${folder}/${name}`)
  })

async function killWhile(isSo: () => Promise<boolean>): Promise<void> {
  await until('it is in the middle', isSo, LONG_MS)
  await plane.kill()
  await plane.start()
}

it('an export and an import that are killed in the middle leave nothing, and succeed when they are begun again', async () => {
  const [from, to] = [await makeDatabase('from'), await makeDatabase('to')]
  await fill(from)
  const exports = () => ask<PostgresExport[]>(`/${from}/export`)
  const first = await ask<PostgresExport>(`/${from}/export`, { method: 'POST' })
  await killWhile(async () => isMoving((await exports())[0] ?? first))
  await until('the export has failed', async () => (await exports())[0]?.status === 'failed', LONG_MS)
  expect(leftovers()).toEqual([])

  const second = await ask<PostgresExport>(`/${from}/export`, { method: 'POST' })
  await until('the export is there', async () => (await exports()).find(({ id }) => id === second.id)?.status === 'succeeded', LONG_MS)
  const response = await fetch(`${plane.url}/v1/postgres/${from}/export/${second.id}/file`, {
    headers: { authorization: `Bearer ${plane.adminToken}` },
  })
  const file = Buffer.from(await response.arrayBuffer())

  const send = async (): Promise<PostgresImport> => {
    const headers = { authorization: `Bearer ${plane.adminToken}`, 'content-type': 'application/gzip' }
    const sent = await fetch(`${plane.url}/v1/postgres/${to}/import/upload`, { method: 'POST', headers, body: file })
    expect(sent.status).toBe(202)
    return (await sent.json()) as PostgresImport
  }
  const seen = ({ id }: PostgresImport) => ask<PostgresImport>(`/${to}/import/${id}`)
  const cut = await send()
  await killWhile(async () => isMoving(await seen(cut)))
  await until('the import has failed', async () => (await seen(cut)).status === 'failed', LONG_MS)
  expect((await seen(cut)).reason).toMatch(/nothing of it is in the database/)
  expect(await inDatabase(to, async (sql) => (await sql`SELECT 1 FROM pg_class WHERE relname = 'big'`).length)).toBe(0)
  expect(leftovers()).toEqual([`transfers/${second.id}`])

  const again = await send()
  await until('the import is in', async () => (await seen(again)).status === 'succeeded', LONG_MS)
  expect(await inDatabase(to, async (sql) => (await sql`SELECT count(*)::int AS rows FROM big`)[0].rows)).toBe(ROWS)
}, 400_000)
