/**
 * Log intake and reading, beside what a plain SQLite table and a flat file do on the same machine in the same run.
 * The number of lines may be given as an argument: `bun test/bench/logs.ts 10000000`.
 */
import { Database } from 'bun:sqlite'
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GrowingFile } from '../../server/platform/files/growing/growing-file.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { createCollector } from '../../server/telemetry/logs/collector.ts'
import { guessLevel } from '../../server/telemetry/logs/level.ts'
import type { NewLogLine } from '../../server/telemetry/logs/line.ts'
import { type LogQueryOptions, type LogStore, openLogStore } from '../../server/telemetry/logs/store.ts'

const DEFAULT_LINES = 1_000_000
const SERVICES = 100
const BATCH = 1000
const REPEATS = 20

export async function run(lines = DEFAULT_LINES): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-logs-'))
  try {
    const store = openLogStore(join(dir, 'logs.db'))
    const intake = lines / seconds(() => forEachBatch(lines, (batch) => store.append(batch)))
    const plain = lines / seconds(() => insertPlain(join(dir, 'plain.db'), lines))
    report(
      'intake, stored and searchable',
      `${perSecond(intake)}, ${(intake / plain).toFixed(2)} × a plain unindexed table (${perSecond(plain)})`,
    )
    report('intake, in quiet appends', quietIntake(store))
    report('intake from an output file', await fileIntake(dir))
    report(
      'space',
      `${Math.round(statSync(join(dir, 'logs.db')).size / lines)} bytes a line of ${lineOf(0, 0).message.length}; plain table ${Math.round(statSync(join(dir, 'plain.db')).size / lines)}`,
    )
    await reading(store, { dir, lines })
    store.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function reading(store: LogStore, { dir, lines }: { dir: string; lines: number }): Promise<void> {
  const flat = join(dir, 'flat.log')
  forEachBatch(lines, (batch) => appendFileSync(flat, batch.map((line) => `${line.resource} ${line.message}\n`).join('')))
  const one = ['srv-007']
  const searchMs = 600_000
  const peers: [string, LogQueryOptions, string[]][] = [
    ['last 100 lines of one service', { resource: one, limit: 100 }, ['tail', '-n', '100', flat]],
    ['a rare text in one service', { resource: one, limit: 100, text: ['zebra-finch'], searchMs }, ['grep', '-ci', 'zebra-finch', flat]],
    ['a rare text in all services', { resource: 'any', limit: 100, text: ['zebra-finch'], searchMs }, ['grep', '-ci', 'zebra-finch', flat]],
    ['a rare id in all services', { resource: 'any', limit: 100, text: ['4f2a9c1b7'], searchMs }, ['grep', '-ci', '4f2a9c1b7', flat]],
    ['a frequent text in all services', { resource: 'any', limit: 100, text: ['timeout'] }, ['grep', '-cim', '100', 'timeout', flat]],
  ]
  for (const [name, query, argv] of peers) {
    const ours = await medianMs(() => store.query(query))
    const theirs = await medianMs(() => runProcess(argv, { env: process.env as Record<string, string> }), 3)
    report(`${name}, of ${lines.toLocaleString('en')}`, `${ours.toFixed(2)} ms; ${argv[0]} over a flat file of all ${theirs.toFixed(1)} ms`)
  }
}

/** Two hundred services that write a line now and then: one line of each in every transaction. */
function quietIntake(store: LogStore): string {
  const appends = 250
  const lines = Array.from({ length: 200 }, (_, service) => lineOf(service, service))
  const took = seconds(() => {
    for (let i = 0; i < appends; i++) store.append(lines)
  })
  return `${perSecond((appends * lines.length) / took)}, ${((took / appends) * 1000).toFixed(1)} ms for one line of each of 200 services`
}

async function fileIntake(dir: string): Promise<string> {
  const path = join(dir, 'output')
  const origin = { resource: 'srv-000', instance: 'srv-000-1', type: 'app' } as const
  const lines = 300_000
  forEachBatch(lines, (batch) => appendFileSync(path, `${batch.map((line) => line.message).join('\n')}\n`))
  const store = openLogStore(join(dir, 'file.db'))
  const collector = createCollector({ store, pollMs: 60_000 })
  const lineOf = (message: string, timestampMs: number): NewLogLine => ({ ...origin, timestampMs, level: guessLevel(message), message })
  collector.follow({ key: path, source: new GrowingFile(path, { mayBeEmptied: true }), lineOf })
  const startedAt = performance.now()
  await collector.unfollow(path, { drain: true })
  const took = (performance.now() - startedAt) / 1000
  await collector.stop()
  store.close()
  return perSecond(lines / took)
}

function insertPlain(path: string, lines: number): void {
  const db = new Database(path, { create: true, strict: true })
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = NORMAL')
  db.run('CREATE TABLE lines (at INTEGER, resource TEXT, instance TEXT, type TEXT, level TEXT, message TEXT) STRICT')
  const insert = db.prepare('INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)')
  const insertAll = db.transaction((batch: NewLogLine[]) => {
    for (const line of batch) insert.run(line.timestampMs, line.resource, line.instance, line.type, line.level, line.message)
  })
  forEachBatch(lines, insertAll)
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

const words =
  'connection timeout while reading response from upstream server retry attempt finished job queue worker cache miss hit slow query'.split(
    ' ',
  )
const startMs = Date.UTC(2026, 0, 1)
let state = 1

function random(below: number): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}

function forEachBatch(lines: number, use: (batch: NewLogLine[]) => void): void {
  for (let start = 0; start < lines; start += BATCH) {
    const service = random(SERVICES)
    use(Array.from({ length: Math.min(BATCH, lines - start) }, (_, i) => lineOf(start + i, service)))
  }
}

function lineOf(index: number, service: number): NewLogLine {
  const word = () => words[random(words.length)]
  const resource = `srv-${String(service).padStart(3, '0')}`
  const message = `level=info req=${random(2 ** 32).toString(16)} GET /api/orders/${random(1_000_000)} ${200 + random(4)} ${random(900)}ms ${word()} ${word()} ${word()}`
  return { timestampMs: startMs + Math.trunc(index / 50), resource, instance: `${resource}-1`, type: 'app', level: 'info', message }
}

/** Includes the making of the lines, for us and for the peer alike. */
function seconds(work: () => void): number {
  const startedAt = performance.now()
  work()
  return (performance.now() - startedAt) / 1000
}

async function medianMs(work: () => Promise<unknown>, repeats = REPEATS): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < repeats; i++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[Math.floor(repeats / 2)] ?? 0
}

const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')} lines/s`
const report = (name: string, value: string): void => console.log(`logs: ${name}: ${value}`)

if (import.meta.main) await run(Number(process.argv[2] ?? DEFAULT_LINES))
