import { expect, test } from 'vitest'
import { instancesOf } from '../../../../server/apps/workloads/instance-store.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { allWorkloads } from '../../../../server/runtime/workloads/store.ts'
import { databaseOf } from './database-of.ts'

/** The last version without workloads. */
const VERSION_BEFORE = 13

const exit = { at: 5, exitCode: 1, signal: null, reason: 'It filled the disk' }
const starved = { at: 6, exitCode: 137, signal: null }

test('instances and begun jobs of before are workloads, with all that was known of them', () => {
  const db = databaseOf(VERSION_BEFORE)
  db.run('PRAGMA foreign_keys = OFF')
  const phases = ['pending', 'starting', 'ready', 'serving', 'draining']
  for (const [index, phase] of phases.entries())
    db.query(
      `INSERT INTO instances (id, service_id, deploy_id, release_id, generation, address, port, own_port, misplaced, phase, restarts, exits,
       start_at, draining_at, frozen_at, started_at, created_at) VALUES (?, 'srv', 'dep', 'rel', 2, ?, 10000, 8080, 'Why.', ?, 3, ?, 6, 7, 8, 9, ?)`,
    ).run(
      `srv-${index}`,
      `10.0.0.${index}`,
      phase,
      JSON.stringify([
        { ...exit, oomKilled: false },
        { ...starved, oomKilled: true },
      ]),
      index,
    )
  const job = (id: string, phase: string, more: { stopAs?: string; finishedAt?: number } = {}) =>
    db
      .query(
        `INSERT INTO jobs (id, service_id, kind, phase, release_id, deploy_id, triggered_by, stop_as, created_at, started_at, finished_at)
         VALUES (?, 'srv', 'one_off', ?, 'rel', 'dep', 'usr', ?, 100, 101, ?)`,
      )
      .run(id, phase, more.stopAs ?? null, more.finishedAt ?? null)
  job('job-waits', 'pending')
  job('job-runs', 'running')
  job('job-stops', 'running', { stopAs: 'canceled' })
  job('job-over', 'succeeded', { finishedAt: 102 })
  migrateDatabase(db)
  expect(instancesOf(db, 'srv')).toEqual(
    phases.map((phase, index) => ({
      ...{ id: `srv-${index}`, serviceId: 'srv', deployId: 'dep', releaseId: 'rel', generation: 2, port: 10_000, ownPort: 8080 },
      ...{
        address: `10.0.0.${index}`,
        misplaced: 'Why.',
        phase,
        restarts: 3,
        exits: [exit, { ...starved, why: 'out_of_memory' }],
        startAt: 6,
      },
      ...{ drainingAt: 7, frozenAt: 8, startedAt: 9, createdAt: index },
    })),
  )
  const spec = { deployId: 'dep', releaseId: 'rel' }
  const jobs = allWorkloads(db).filter(({ purpose }) => purpose === 'job')
  expect(jobs.map(({ id, phase }) => [id, phase])).toEqual([
    ['job-runs', 'running'],
    ['job-stops', 'stopping'],
  ])
  expect(jobs[0]).toMatchObject({ ownerKind: 'service', ownerId: 'srv', spec, port: null, node: 'local', epoch: null, startedAt: 101 })
  db.close()
})
