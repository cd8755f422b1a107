import { expect, test } from 'vitest'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { allWorkloads } from '../../../../server/runtime/workloads/store.ts'
import { databaseOf } from './database-of.ts'

/** The last version whose shells and jobs on a terminal had no row. */
const VERSION_BEFORE = 14

test('shells that the last control plane left open have a row, and so have jobs on a terminal', () => {
  const db = databaseOf(VERSION_BEFORE)
  db.run('PRAGMA foreign_keys = OFF')
  let count = 0
  const record = (type: string, shellId: string, more: Record<string, unknown> = {}) =>
    db
      .query("INSERT INTO events (id, workspace_id, service_id, type, details, created_at) VALUES (?, 'tea', 'srv', ?, ?, 7)")
      .run(`evt-${++count}`, type, JSON.stringify({ shellId, actor: { type: 'user', id: 'usr', name: 'Ada' }, instanceId: null, ...more }))
  record('shell_opened', 'closed')
  record('shell_opened', 'open')
  record('shell_closed', 'closed', { exitCode: 0 })
  const job = (id: string, finishedAt: number | null) =>
    db
      .query(
        `INSERT INTO jobs (id, service_id, kind, phase, release_id, deploy_id, triggered_by, created_at, started_at, finished_at)
         VALUES (?, 'srv', 'one_off', ?, 'rel', 'dep', 'usr', 100, 101, ?)`,
      )
      .run(id, finishedAt === null ? 'running' : 'succeeded', finishedAt)
  job('job-open', null)
  job('job-over', 102)
  migrateDatabase(db)
  expect(allWorkloads(db)).toMatchObject([
    {
      ...{ id: 'open', ownerKind: 'service', ownerId: 'srv', purpose: 'shell', phase: 'running', startedAt: 7 },
      spec: { shellId: 'open', actor: { type: 'user', id: 'usr', name: 'Ada' }, instanceId: null },
    },
    { id: 'job-open', purpose: 'job', phase: 'running', spec: { deployId: 'dep', releaseId: 'rel' }, startedAt: 101 },
  ])
  db.close()
})
