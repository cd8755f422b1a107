/**
 * The audit log: what an entry costs beside a plain insert, how long a million entries take to verify from the database, from an export
 * and over HTTP, and what a page costs at the far end of it. The number of entries may be given: `bun test/bench/audit.ts 100000`.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyExport } from '../../cli/audit/verify.ts'
import { type AuditLog, openAuditLog } from '../../server/identity/audit-chain/log.ts'
import { openAuditSigner } from '../../server/identity/audit-chain/signer.ts'
import { listEntries } from '../../server/identity/audit-chain/store.ts'
import { verifyDatabase } from '../../server/identity/audit-chain/verify-database.ts'
import { exportChain } from '../../server/identity/audit-log/export.ts'
import { inOneChange } from '../../server/platform/db/change.ts'
import { migrateDatabase } from '../../server/platform/db/migrate.ts'
import { openDatabase } from '../../server/platform/db/open.ts'
import { createServerLog } from '../../server/platform/server-log.ts'

const DEFAULT_ENTRIES = 1_000_000
const BATCH = 1000
const SINGLE_APPENDS = 2000
const PAGE_REPEATS = 50
const workspaceId = 'tea-00000000000000000000'

export async function run(entries = DEFAULT_ENTRIES): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-audit-'))
  const db = openDatabase(join(dir, 'control.db'))
  migrateDatabase(db)
  const audit = openAuditLog({ db, signer: openAuditSigner(join(dir, 'audit.key')), log: createServerLog(() => {}), now: Date.now })
  try {
    db.run('CREATE TABLE plain (text TEXT) STRICT')
    const insert = db.query('INSERT INTO plain (text) VALUES (?)')
    const own = micros(SINGLE_APPENDS, (index) => append(audit, index))
    const plain = micros(SINGLE_APPENDS, (index) => insert.run(`a row of its own ${index}`))
    report('an entry, in a transaction of its own', `${own.toFixed(0)} µs; a plain row ${plain.toFixed(0)} µs`)
    for (let done = SINGLE_APPENDS; done < entries; done += BATCH) {
      inOneChange(db, () => {
        for (let index = done; index < Math.min(entries, done + BATCH); index++) append(audit, index)
      })
    }
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    const count = entries.toLocaleString('en')
    report('space', `${Math.round(statSync(join(dir, 'control.db')).size / entries)} bytes an entry, indexes included`)
    report(
      `verifying ${count} in the database`,
      seconds(() => verifyDatabase(db, audit.publicKey)),
    )
    const file = join(dir, 'export.ndjson')
    report(
      `exporting ${count}`,
      await secondsOf(async () => void (await Bun.write(file, new Response(exportChain({ db, audit }, workspaceId, 1))))),
    )
    report('longest pause of the server meanwhile', await longestPause(() => drain(exportChain({ db, audit }, workspaceId, 1))))
    report(`verifying ${count} offline`, await secondsOf(() => verified(Bun.file(file).stream(), entries)))
    report(`verifying ${count} online`, await secondsOf(() => verifiedOverHttp(exportChain({ db, audit }, workspaceId, 1), entries)))
    const near = pageMicros(entries + 1)
    const far = pageMicros(101)
    report('a page of 100', `${near.toFixed(0)} µs at the newest, ${far.toFixed(0)} µs at the oldest`)
  } finally {
    db.close()
    rmSync(dir, { recursive: true, force: true })
  }

  function pageMicros(before: number): number {
    const filter = { events: [], actors: [], after: 0, before, order: 'DESC', limit: 100 } as const
    return micros(PAGE_REPEATS, () => listEntries(db, workspaceId, filter))
  }
}

const append = (audit: AuditLog, index: number): void =>
  audit.append([workspaceId], {
    event: 'service.updated',
    status: 'success',
    actor: { type: 'user', id: `usr-${index % 50}`, email: `user-${index % 50}@example.com` },
    target: `srv-${index % 1000}`,
    ip: '192.0.2.1',
    requestId: crypto.randomUUID(),
    metadata: {
      operation: 'updateService',
      request: { serviceId: `srv-${index % 1000}`, serviceDetails: { plan: 'standard' } },
      changes: { 'serviceDetails.plan': { before: 'starter', after: 'standard' } },
    },
  })

async function verified(stream: ReadableStream<Uint8Array>, entries: number): Promise<void> {
  const verification = { stream, publicKey: undefined, against: undefined, isLive: true, witnessOf: async () => undefined }
  const report = await verifyExport(verification)
  if (!report.isIntact || report.entries !== entries) throw new Error(`Not intact: ${JSON.stringify(report)}`)
}

/** Both ends in this process, so it takes as long as the two of them together. */
async function verifiedOverHttp(stream: ReadableStream<Uint8Array>, entries: number): Promise<void> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: () => new Response(stream) })
  const { body } = await fetch(server.url)
  if (body !== null) await verified(body, entries)
  await server.stop(true)
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}

async function longestPause(work: () => Promise<void>): Promise<string> {
  let longest = 0
  let at = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - at)
    at = performance.now()
  }, 1)
  await work()
  clearInterval(timer)
  return `${longest.toFixed(1)} ms`
}

function micros(times: number, work: (index: number) => void): number {
  const startedAt = performance.now()
  for (let index = 0; index < times; index++) work(index)
  return ((performance.now() - startedAt) / times) * 1000
}

const seconds = (work: () => unknown): string => `${(micros(1, work) / 1_000_000).toFixed(1)} s`

async function secondsOf(work: () => Promise<void>): Promise<string> {
  const startedAt = performance.now()
  await work()
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}

const report = (name: string, figure: string): void => console.log(`  ${name}: ${figure}`)

if (import.meta.main) await run(Number(process.argv[2] ?? DEFAULT_ENTRIES))
