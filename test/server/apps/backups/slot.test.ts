import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SLOT } from '../../../../server/apps/backups/postgres/receiver.ts'
import { backupsOf, updateBackup } from '../../../../server/apps/backups/rows/backup-store.ts'
import { backupSetOf, updateBackupSet } from '../../../../server/apps/backups/rows/set-store.ts'
import { ensureSlot } from '../../../../server/apps/backups/work/slot.ts'
import { createStreamHealth } from '../../../../server/apps/backups/work/stream-health.ts'
import { datastoreById } from '../../../../server/apps/datastores/store.ts'
import { addBackups } from '../../../support/backups.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { type PostgresServer, startPostgres } from '../../../support/source-postgres.ts'

let server: TestServer
let postgres: PostgresServer
let id: string

beforeAll(async () => {
  server = await startTestServer()
  postgres = await startPostgres({ settings: { max_slot_wal_keep_size: '16MB', min_wal_size: '32MB', max_wal_size: '32MB' } })
  const { id: workspaceId } = server.db.query<{ id: string }, []>('SELECT id FROM workspaces').get() ?? expect.fail('There is no workspace')
  id = addDatastore(server, { workspaceId })
  addBackups(server, { id, workspaceId })
})
afterAll(async () => {
  await postgres.close()
  await server.close()
})

const set = () => backupSetOf(server.db, id) ?? expect.fail('There is no set')
const eventTypes = () =>
  server.db
    .query<{ type: string }, [string]>('SELECT type FROM events WHERE service_id = ? ORDER BY id')
    .all(id)
    .map(({ type }) => type)

async function ensure(): Promise<string[]> {
  const endpoint = { host: '127.0.0.1', port: postgres.port }
  const called: string[] = []
  await ensureSlot(server.context, {
    source: {
      ...{ ...endpoint, endpoint, programs: postgres.programs, uid: 0, areCommitsWaiting: false },
      ...{ user: 'cpd_admin', password: postgres.password },
    },
    set: set(),
    onLost: async (timeline) => void called.push(`let go for time line ${timeline}`),
  })
  return called
}

const statusOfSlot = async () => (await postgres.sql`SELECT wal_status FROM pg_replication_slots WHERE slot_name = ${SLOT}`)[0]?.wal_status

describe('the place in the log', () => {
  it('is made once, for a database without backups as without a word', async () => {
    server.db.query("UPDATE backups SET status = 'failed' WHERE datastore_id = ?").run(id)
    expect(await ensure()).toEqual([])
    expect(await ensure()).toEqual([])
    expect(await statusOfSlot()).toBe('reserved')
    expect(eventTypes()).not.toContain('postgres_wal_archive_failed')
  })

  it('is made anew when the server had to give it up, which is told, and followed by a full backup', async () => {
    for (const { id: backupId } of backupsOf(server.db, id)) updateBackup(server.db, backupId, { status: 'available' })
    for (let segment = 0; segment < 6; segment += 1) {
      await postgres.sql`SELECT pg_logical_emit_message(false, 'cpd', repeat('x', 100000))`
      await postgres.sql`SELECT pg_switch_wal()`
      await postgres.sql`CHECKPOINT`
    }
    expect(await statusOfSlot()).toBe('lost')
    expect(await ensure()).toEqual(['let go for time line 1'])
    expect(await statusOfSlot()).toBe('reserved')
    expect(backupsOf(server.db, id)[0]).toMatchObject({ kind: 'full', status: 'creating' })
    expect(set().problem).toContain('A full backup is taken')
    expect(eventTypes()).toContain('postgres_wal_archive_failed')
    expect(await ensure()).toEqual([])
  })
})

describe('the health of a stream', () => {
  const datastore = () => datastoreById(server.db, id) ?? expect.fail('It is gone')
  let now = 1_000_000
  const failedTimes = () => eventTypes().filter((type) => type === 'postgres_wal_archive_failed').length

  it('is told when a failure lasts, however often the stream was begun anew, and when it is over', () => {
    const health = createStreamHealth({ db: server.db, now: () => now })
    health.sound(id, 'streamed')
    expect(set().problem).toBeNull()
    const before = failedTimes()
    expect(health.failed(datastore(), 'streamed', 'connection refused')).toBe('first')
    for (let second = 0; second < 59; second += 1) {
      now += 1000
      expect(health.failed(datastore(), 'streamed', 'connection refused')).toBe('again')
    }
    expect(failedTimes()).toBe(before)
    now += 1000
    health.failed(datastore(), 'streamed', 'connection refused')
    now += 1000
    health.failed(datastore(), 'streamed', 'connection refused')
    expect(failedTimes()).toBe(before + 1)
    expect(set().problem).toBe('connection refused')
    health.sound(id, 'streamed')
    expect(set().problem).toBeNull()
    expect(eventTypes().at(-1)).toBe('postgres_wal_archive_resumed')
  })

  it('is told as well when what is received cannot be stored, until it can', () => {
    const health = createStreamHealth({ db: server.db, now: () => now })
    health.failed(datastore(), 'stored', 'no room')
    now += 60_000
    health.sound(id, 'streamed')
    health.failed(datastore(), 'stored', 'no room')
    expect(set().problem).toBe('no room')
    health.sound(id, 'streamed')
    expect(set().problem).toBe('no room')
    health.sound(id, 'stored')
    expect(set().problem).toBeNull()
    updateBackupSet(server.db, id, { problem: 'the place was lost' })
    health.sound(id, 'stored')
    expect(set().problem).toBe('the place was lost')
  })
})
