import { expect, test } from 'vitest'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { databaseOf } from './database-of.ts'

/** The last version whose events went with their service. */
const VERSION_BEFORE = 17

test('events of before are all there, in the order of their times, with the names that their services have', () => {
  const db = databaseOf(VERSION_BEFORE)
  db.run('PRAGMA foreign_keys = OFF')
  db.run(`INSERT INTO services (id, workspace_id, name, slug, type, uid, num_instances, settings, created_at, updated_at)
    VALUES ('srv', 'tea', 'web', 'web', 'web_service', 1, 1, '{}', 0, 0)`)
  const record = db.query(
    "INSERT INTO events (id, workspace_id, service_id, type, details, created_at) VALUES (?, 'tea', ?, 'deploy_ended', '{}', ?)",
  )
  record.run('evt-b', 'srv', 20)
  record.run('evt-a', 'srv', 10)
  record.run('evt-c', 'srv-gone', 20)
  migrateDatabase(db)
  expect(db.query('SELECT seq, id, service_id, service_name, created_at FROM events ORDER BY seq').all()).toEqual([
    { seq: 1, id: 'evt-a', service_id: 'srv', service_name: 'web', created_at: 10 },
    { seq: 2, id: 'evt-b', service_id: 'srv', service_name: 'web', created_at: 20 },
    { seq: 3, id: 'evt-c', service_id: 'srv-gone', service_name: null, created_at: 20 },
  ])
  db.close()
})
