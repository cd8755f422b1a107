import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proofOf } from '../../cli/audit/proof.ts'
import { auditEvents } from '../../server/api/audit/events.ts'
import { chainsThereAre, entriesFrom, readHead } from '../../server/identity/audit-chain/store.ts'
import type { ChangingId } from '../../server/identity/audit-log/event.ts'
import { createChainVerifier } from '../../shared/audit-verifier.ts'
import { operationOf } from '../../shared/operations/all.ts'
import { call } from '../support/client.ts'
import { openSocket } from '../support/socket.ts'
import { type SuccessCase, successCases } from './cases.ts'
import { makeWorld, type World } from './world.ts'

/**
 * No change without its entry: where the log cannot be written, every request that would succeed fails, and leaves the database as
 * it was.
 */
let world: World
beforeAll(async () => {
  world = await makeWorld()
})
afterAll(() => world.close())

/** Go on by themselves once they are there: it is looked at whether they come, go, and are to be stopped. */
const restless: Readonly<Record<string, readonly string[]>> = {
  deploys: ['id', 'cancel_requested_at'],
  jobs: ['id', 'canceled_by'],
  webhook_queue: ['webhook_id', 'event_id'],
  source_host_hooks: ['installation_id', 'repo'],
  transfers: ['id', "status IN ('canceled', 'removing') AS is_ended"],
  datastores: ['id', 'environment_id', 'name', 'plan', 'generation', 'suspended_by', 'ip_allow_list', 'grow_to_gb'],
}
/** Written by what runs, at any moment; and when a key or a session was last seen or how far a webhook has read, which is no change. */
const ignored = new Set([
  // Databases that run are backed up meanwhile.
  'backups',
  'backup_keys',
  'backup_objects',
  'backup_sets',
  'postgres_spares',
  'replica_lags',
  'sets',
  'workloads',
  'deploy_steps',
  'service_instances',
  'events',
  'event_readers',
  'notification_items',
  'notification_problems',
  'webhook_deliveries',
  'certificate_orders',
  'acme_accounts',
  'audit_log',
  'audit_heads',
  'idempotency_keys',
  'cron_jobs',
  'releases',
  // An empty repository is made for whoever asks first.
  'git_repositories',
  // A delivery that leads to nothing is remembered, and changes nothing.
  'source_host_deliveries',
  'commit_reports',
  'source_host_pauses',
])
/** Change nothing, or nothing that concerns anybody yet. */
const unwritten = new Set<string>(['createDeviceGrant', 'refreshDeviceToken', 'planDeploy'])

/** A spare database or a backup that is made meanwhile takes a user's id. */
const NO_COUNTERS = "WHERE key NOT LIKE '%uid'"

function dump(db: Database): Record<string, unknown> {
  const tables = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
  const wanted = tables.filter(({ name }) => !ignored.has(name))
  return Object.fromEntries(
    wanted.map(({ name }) => [
      name,
      db
        .query(`SELECT ${restless[name]?.join() ?? '*'} FROM ${name} ${name === 'meta' ? NO_COUNTERS : ''} ORDER BY 1`)
        .all()
        .map(seen),
    ]),
  )
}

function seen(row: unknown): unknown {
  const { last_used_at: _, last_seen_at: __, polled_at: ___, cursor_seq: ____, ...rest } = row as Record<string, unknown>
  return rest
}

const failing = async <T>({ db }: { db: Database }, work: () => Promise<T>): Promise<T> => {
  db.run("CREATE TEMP TRIGGER log_fails BEFORE INSERT ON main.audit_log BEGIN SELECT RAISE(ABORT, 'the log cannot be written'); END")
  try {
    return await work()
  } finally {
    db.run('DROP TRIGGER log_fails')
  }
}

async function statusOf(id: ChangingId, { path, options, isAnonymous }: SuccessCase): Promise<number> {
  const { url, adminToken } = world.platform
  if (operationOf(id).webSocket) {
    const outcome = await openSocket(url + path, { authorization: `Bearer ${adminToken}` }).catch(() => undefined)
    outcome?.close()
    return outcome === undefined ? 500 : 101
  }
  return (await call(url + path, { ...options, ...(isAnonymous ? {} : { token: adminToken }) })).status
}

const changing = (Object.keys(auditEvents) as ChangingId[]).filter((id) => !unwritten.has(id))

describe.each(changing)('%s', (id) => {
  test('changes nothing while its entry cannot be written', async () => {
    for (const one of await successCases[id](world)) {
      const before = dump(world.platform.db)
      const status = await failing(world.platform, () => statusOf(id, one))
      const after = dump(world.platform.db)
      for (const [table, rows] of Object.entries(before))
        expect(after[table], `${table} after ${one.options?.method} ${one.path}`).toEqual(rows)
      // What succeeds all the same has changed nothing.
      if (status !== 500) expect(harmless(id, one, status)).toBe(true)
    }
  }, 60_000)
})

test('all of it, made again with a log that can be written, has an entry each, and every chain is intact', async () => {
  const { db, context } = world.platform
  const told = () =>
    db
      .query<{ event: string }, []>('SELECT DISTINCT event FROM audit_log')
      .all()
      .map(({ event }) => event)
  for (const id of changing) {
    const answers: number[] = []
    for (const one of await successCases[id](world)) answers.push(await statusOf(id, one))
    if (!changeless.has(id)) expect(told(), `${id} answered ${answers}`).toContain(auditEvents[id].event)
  }
  for (const workspaceId of chainsThereAre(db)) {
    const verifier = createChainVerifier({ ...proofOf(context.audit.publicKey), workspaceId, fromSequence: 1, newestSequence: 0 })
    for (const entry of entriesFrom(db, workspaceId, { from: 1, limit: 100_000 })) verifier.add(entry)
    expect(verifier.end(readHead(db, workspaceId)).fault).toBeUndefined()
  }
}, 120_000)

/**
 * Their cases are answered without anything having to change: there is no session to end, no account to help, no sign-in under way, no app
 * to be made, and git only fetches, or asks with an empty push whether it may push.
 */
const changeless = new Set<string>([
  ...['logout', 'revokeDeviceToken', 'requestPasswordReset', 'completeOAuth', 'completeOAuthByForm'],
  ...['completeGithubApp', 'completeGithubInstall', 'receiveGiteaDelivery'],
  ...['gitUploadPack', 'gitReceivePack'],
])

/** Requests of a changing operation that change nothing. */
function harmless(id: ChangingId, { path, options }: SuccessCase, status: number): boolean {
  if (id === 'rollback') return (options?.json as { dryRun?: boolean } | undefined)?.dryRun === true
  if (id === 'removeEnvironmentResources') return path.startsWith('/v1/environments/srv-')
  return status >= 400 || changeless.has(id)
}
