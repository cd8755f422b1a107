import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { stored } from '../../server/apps/datastores/operations.ts'
import { programsOf } from '../../server/apps/postgres/programs.ts'
import { requireEndpoint } from '../../server/apps/postgres/session.ts'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import type { Backup } from '../../shared/backup.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const MEGABYTES = Number(process.env.BENCH_MEGABYTES ?? 1024)
const CLIENTS = 4
const WARM_MS = 10_000
const LONG_MS = 1_800_000
const ROWS_PER_MEGABYTE = 8000

/** What a base backup of a gigabyte takes, of time and of the throughput of who uses the database, and how long its recovery takes: `npm run bench backups`. */
export async function run(): Promise<void> {
  const platform = await startPlatform()
  try {
    const id = (await ask<{ id: string }>(platform, '', { json: { name: 'large', plan: 'basic_1gb', diskSizeGB: 10 } })).body.id
    await available(platform, id)
    await taken(platform, id, 0)
    const sql = await connect(platform, id)
    // Half random, half not, as rows of applications are.
    await sql`CREATE TABLE filler AS SELECT i, md5(i::text) || md5((i + 1)::text) || repeat('x', 64) AS text FROM generate_series(1, ${MEGABYTES * (ROWS_PER_MEGABYTE - 1600)}) AS i`
    await sql`CREATE TABLE accounts AS SELECT i AS id, 0 AS balance FROM generate_series(1, 10000) AS i`
    await sql`CREATE UNIQUE INDEX ON accounts (id)`
    await sql`CHECKPOINT`.catch(() => {})
    const [size] = await sql`SELECT pg_database_size(current_database()) AS bytes`
    const stop = await startLoad(platform, id)
    const alone = await rateOver(sql, Bun.sleep(WARM_MS))
    const begunAt = performance.now()
    const stalls = watchLoop()
    await ask(platform, `/${id}/backups`, { method: 'POST' })
    const during = await rateOver(sql, taken(platform, id, 1))
    const backupMs = performance.now() - begunAt
    await stop()
    await sql.close()
    const recoveryMs = await recovery(platform, id)
    console.log(
      `${(Number(size.bytes) / 1e9).toFixed(2)} GB under ${CLIENTS} clients: base backup ${seconds(backupMs)}, recovery ${seconds(recoveryMs)}`,
    )
    console.log(`transactions each second: ${alone.toFixed(0)} alone, ${during.toFixed(0)} during it: ratio ${(during / alone).toFixed(2)}`)
    console.log(`longest that the loop of cpd stood still meanwhile: ${stalls().toFixed(0)} ms`)
  } finally {
    await platform.close()
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const ask = <T>({ url, adminToken: token }: Platform, path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${url}/v1/postgres${path}`, { token, ...options })

const available = (platform: Platform, id: string) =>
  until(`${id} is available`, async () => (await ask<{ status: string }>(platform, `/${id}`)).body.status === 'available', LONG_MS)

const taken = (platform: Platform, id: string, more: number) =>
  until(
    'the backup is taken',
    async () => {
      const { body } = await ask<{ backup: Backup }[]>(platform, `/${id}/backups`)
      const failed = body.find(({ backup }) => backup.status === 'failed')
      if (failed !== undefined) throw new Error(failed.backup.reason)
      return body.filter(({ backup }) => backup.status === 'available').length > more
    },
    LONG_MS,
  )

async function placeOf(platform: Platform, id: string) {
  const { body } = await ask<{ internalConnectionString: string }>(platform, `/${id}/connection-info`)
  const { username, password, pathname } = new URL(body.internalConnectionString)
  const { host, port } = requireEndpoint(platform.context, stored(platform.context, id))
  return { hostname: host, port, username, password, database: pathname.slice(1) }
}

const connect = async (platform: Platform, id: string): Promise<SQL> =>
  new SQL({ ...(await placeOf(platform, id)), adapter: 'postgres', tls: false, max: 1 })

/** Its clients are in a process of their own, as those of users are: in ours they would wait for what `cpd` does, and not for the server. */
async function startLoad(platform: Platform, id: string): Promise<() => Promise<void>> {
  const { hostname, port, username, password, database } = await placeOf(platform, id)
  const pgbench = join(platform.context.programs.folder(programsOf(platform.context, '18').name), 'bin/pgbench')
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-backups-'))
  const script = join(dir, 'update.sql')
  writeFileSync(script, '\\set id random(1, 10000)\nUPDATE accounts SET balance = balance + 1 WHERE id = :id;\n')
  const amount = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-T', String(LONG_MS / 1000), '-f', script]
  const clients = spawnProcess([
    pgbench,
    ...amount,
    `host=${hostname} port=${port} user=${username} password=${password} dbname=${database}`,
  ])
  return async () => {
    clients.kill()
    await clients.exited
    rmSync(dir, { recursive: true })
  }
}

async function rateOver(sql: SQL, work: Promise<unknown>): Promise<number> {
  const committed = async () => Number((await sql`SELECT sum(balance) AS count FROM accounts`)[0].count)
  const [from, at] = [await committed(), performance.now()]
  await work
  return (((await committed()) - from) * 1000) / (performance.now() - at)
}

const TICK_MS = 5

function watchLoop(): () => number {
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last - TICK_MS)
    last = now
  }, TICK_MS)
  return () => {
    clearInterval(timer)
    return longest
  }
}

async function recovery(platform: Platform, id: string): Promise<number> {
  const begunAt = performance.now()
  const { body } = await ask<{ id: string }>(platform, `/${id}/recovery`, { json: {} })
  await available(platform, body.id)
  return performance.now() - begunAt
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
