import { readdirSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { programsOf } from '../../server/apps/postgres/programs.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { Backup } from '../../shared/backup.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { type Random, randomFrom } from '../server/ingress/random.ts'
import { call } from '../support/client.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

export interface PostgresRecoveryOptions {
  /** How many moments are gone back to. */
  targets: number
  /** How often a data directory is deleted under load. */
  losses: number
  /** How long rows are written before their table is dropped. */
  seconds: number
  seed: number
}

const ROW_EVERY_MS = 20
const LOADERS = 4
/** A hundred thousand accounts each, as pgbench counts. */
const SCALE = 5
const LONG_MS = 600_000

/** A row and the moments between which it was committed. */
interface Row {
  i: number
  sentAt: number
  acknowledgedAt: number
}

/** Recoveries to random moments of a database under load, up to the one before a table was dropped; and of one whose data directory was deleted while it ran. */
export async function postgresRecovery({ targets, losses, seconds, seed }: PostgresRecoveryOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const random = randomFrom(seed)
  const platform = await startPlatform()
  try {
    const points = await recoverPoints(platform, { targets, seconds, random })
    const lost: number[] = []
    for (let loss = 1; loss <= losses; loss++) lost.push(await loseData(platform, loss))
    const failures = [
      ...points.failures,
      ...lost.flatMap((rows, index) => (rows === 0 ? [] : [`loss ${index + 1}: ${rows} acknowledged rows are missing`])),
    ]
    const summary = `${points.rows} rows, ${targets} moments, recovered in ${points.took.map((ms) => (ms / 1000).toFixed(1)).join(', ')} s; ${losses} data directories deleted, rows lost: ${lost.join(', ')}; ${secondsSince(startedAt)} s`
    return { summary, failures }
  } finally {
    await platform.close()
  }
}

const ask = <T>({ url, adminToken: token }: Platform, path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(`${url}/v1/postgres${path}`, { token, ...options })

async function create(platform: Platform, name: string): Promise<string> {
  const { status, body } = await ask<Postgres & { message?: string }>(platform, '', { json: { name, plan: 'basic_1gb' } })
  if (status !== 201) throw new Error(`${name} was not created: ${body.message}`)
  await available(platform, body.id)
  await until(
    `${name} has a backup`,
    async () => (await ask<{ backup: Backup }[]>(platform, `/${body.id}/backups`)).body.some(({ backup }) => backup.status === 'available'),
    LONG_MS,
  )
  return body.id
}

const available = (platform: Platform, id: string): Promise<unknown> =>
  until(
    `${id} is available`,
    async () => {
      const { status } = (await ask<Postgres>(platform, `/${id}`)).body
      if (status === 'recovery_failed') throw new Error(JSON.stringify((await ask(platform, `/${id}/events`)).body))
      return status === 'available'
    },
    LONG_MS,
  )

async function placeOf(platform: Platform, id: string) {
  const { body } = await ask<{ internalConnectionString: string }>(platform, `/${id}/connection-info`)
  const { username, password, pathname } = new URL(body.internalConnectionString)
  const server = workloadsOf(platform.db, 'datastore', id).find(({ phase }) => phase === 'running')
  return { host: server?.address ?? '', port: server?.port ?? 0, username, password, database: pathname.slice(1) }
}

async function connect(platform: Platform, id: string, max: number): Promise<SQL> {
  const { host: hostname, ...login } = await placeOf(platform, id)
  return new SQL({ adapter: 'postgres', tls: false, max, hostname, ...login })
}

async function recovered<T>(
  platform: Platform,
  id: string,
  json: object,
  read: (sql: SQL) => Promise<T>,
): Promise<{ found: T; tookMs: number }> {
  const begunAt = performance.now()
  const made = await ask<Postgres & { message?: string }>(platform, `/${id}/recovery`, { json })
  if (made.status !== 201) throw new Error(`Not recovered: ${made.body.message}`)
  await available(platform, made.body.id)
  const tookMs = performance.now() - begunAt
  const sql = await connect(platform, made.body.id, 1)
  const found = await read(sql)
  await sql.close()
  await ask(platform, `/${made.body.id}`, { method: 'DELETE' })
  return { found, tookMs }
}

interface Points {
  rows: number
  took: number[]
  failures: string[]
}

async function recoverPoints(platform: Platform, options: { targets: number; seconds: number; random: Random }): Promise<Points> {
  const { targets, seconds, random } = options
  const id = await create(platform, 'points')
  const sql = await connect(platform, id, 1)
  await sql`CREATE TABLE rows (i int PRIMARY KEY)`
  await pgbench(platform, id, ['-i', '-q', '-s', String(SCALE)])
  const rows = await writeUnderLoad(sql, seconds, () => pgbench(platform, id, ['-n', '-c', String(LOADERS), '-T', String(seconds)]))
  const droppedAt = Date.now()
  await sql`DROP TABLE rows`
  await sql.close()
  const [first = droppedAt, span] = [rows[0]?.acknowledgedAt, droppedAt - (rows[0]?.acknowledgedAt ?? droppedAt)]
  const failures: string[] = []
  const took: number[] = []
  for (let target = 1; target <= targets; target++) {
    const at = target === 1 ? droppedAt - 1 : first + random(span)
    const json = { restoreTime: new Date(at).toISOString(), name: `points-${target}` }
    const { found, tookMs } = await recovered(
      platform,
      id,
      json,
      async (restored) => (await restored`SELECT i FROM rows`.values()).flat() as number[],
    )
    took.push(tookMs)
    failures.push(...wrongAt(at, rows, new Set(found)))
    progress(
      `moment ${target}/${targets}: ${found.length} of ${rows.length} rows in ${(tookMs / 1000).toFixed(1)} s; ${failures.length} wrong`,
    )
  }
  return { rows: rows.length, took, failures }
}

/** A row that was acknowledged before the moment is there, and one that was not even sent is not. */
function wrongAt(at: number, rows: readonly Row[], found: ReadonlySet<number>): string[] {
  const when = new Date(at).toISOString()
  const missing = rows
    .filter(({ i, acknowledgedAt }) => acknowledgedAt < at && !found.has(i))
    .map(({ i }) => `${when}: row ${i} is missing`)
  const early = rows.filter(({ i, sentAt }) => sentAt > at && found.has(i)).map(({ i }) => `${when}: row ${i} is of later`)
  return [...missing, ...early]
}

async function writeUnderLoad(sql: SQL, seconds: number, load: () => Promise<unknown>): Promise<Row[]> {
  const rows: Row[] = []
  const end = Date.now() + seconds * 1000
  const write = async (): Promise<void> => {
    for (let i = 0; Date.now() < end; i++) {
      const sentAt = Date.now()
      await sql`INSERT INTO rows VALUES (${i})`
      rows.push({ i, sentAt, acknowledgedAt: Date.now() })
      await Bun.sleep(ROW_EVERY_MS)
    }
  }
  await Promise.all([write(), load()])
  return rows
}

async function pgbench(platform: Platform, id: string, args: readonly string[]): Promise<void> {
  const { context } = platform
  const program = join(context.programs.folder(programsOf(context, '18').name), 'bin/pgbench')
  const { host, port, username, password, database } = await placeOf(platform, id)
  const { exitCode, stderr } = await runProcess([program, ...args, '-h', host, '-p', String(port), '-U', username, database], {
    env: { PGPASSWORD: password },
    timeoutMs: LONG_MS,
  })
  if (exitCode !== 0) throw new Error(`pgbench ${args.join(' ')} ended with ${exitCode}: ${stderr.slice(-1000)}`)
}

/** Returns how many rows that were acknowledged are not in what is recovered. */
async function loseData(platform: Platform, loss: number): Promise<number> {
  const id = await create(platform, `lost-${loss}`)
  const sql = await connect(platform, id, LOADERS)
  await sql`CREATE TABLE rows (i int PRIMARY KEY)`
  const acknowledged: number[] = []
  let isOver = false
  const write = async (first: number): Promise<void> => {
    for (let i = first; !isOver; i += LOADERS)
      await sql`INSERT INTO rows VALUES (${i})`.then(
        () => acknowledged.push(i),
        () => Bun.sleep(ROW_EVERY_MS),
      )
  }
  const writers = Array.from({ length: LOADERS }, (_, index) => write(index))
  await until('rows are written', () => acknowledged.length > 500, LONG_MS)
  const pids = processesOf(platform.dataDir).filter((pid) => isServerOf(pid, id))
  if (pids.length === 0) throw new Error('There is no server to take the data from')
  for (const pid of pids)
    for (const name of readdirSync(`/proc/${pid}/cwd`)) rmSync(join(`/proc/${pid}/cwd`, name), { recursive: true, force: true })
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  isOver = true
  await Promise.all(writers)
  await sql.close({ timeout: 0 })
  const { found } = await recovered(platform, id, {}, async (restored) => (await restored`SELECT i FROM rows`.values()).flat() as number[])
  const kept = new Set(found)
  const lost = acknowledged.filter((i) => !kept.has(i)).length
  progress(`data directory ${loss} deleted: ${acknowledged.length} rows acknowledged, ${lost} lost`)
  await ask(platform, `/${id}`, { method: 'DELETE' })
  return lost
}

/** The one whose working directory is its data. */
function isServerOf(pid: number, id: string): boolean {
  try {
    return /(^|\/)postgres -D/.test(commandLine(pid)) && environmentHas(pid, id) && readlinkSync(`/proc/${pid}/cwd`) !== ''
  } catch {
    return false
  }
}

const environmentHas = (pid: number, id: string): boolean => commandLine(pid).includes(id)
