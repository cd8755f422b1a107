import { expect, test } from 'vitest'
import { instancesOf } from '../../../../server/apps/workloads/instance-store.ts'
import { instanceSetsIn } from '../../../../server/apps/workloads/service-sets.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { allSets, setsOf } from '../../../../server/runtime/workloads/set-store.ts'
import { allWorkloads } from '../../../../server/runtime/workloads/store.ts'
import { databaseOf } from './database-of.ts'

/** The last version without workloads. */
const VERSION_BEFORE = 13
const VERSION_WITHOUT_SETS = 15

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
  const ofInstances = { deployId: 'dep', releaseId: 'rel', generation: 2 }
  expect(
    allWorkloads(db)
      .filter(({ setId }) => setId === 'dep.2')
      .map(({ spec: of }) => of),
  ).toEqual(phases.map(() => ofInstances))
  // One of them drains: it is of the set still, and not wanted of it.
  const common = { ownerKind: 'service', ownerId: 'srv', isFrozen: false }
  expect(allSets(db)).toMatchObject([
    { ...common, id: 'dep.2', purpose: 'instance', spec: ofInstances, replicas: 4, isDropped: false, createdAt: 0 },
    { ...common, id: 'job-runs', purpose: 'job', spec, replicas: 1, isDropped: false },
    { ...common, id: 'job-stops', purpose: 'job', spec, replicas: 1, isDropped: true },
  ])
  expect(jobs.map(({ id, setId }) => setId === id)).toEqual([true, true])
  expect(jobs[0]).toMatchObject({ ownerKind: 'service', ownerId: 'srv', spec, port: null, node: 'local', epoch: null, startedAt: 101 })
  db.close()
})

test('each deploy in each generation is a set of what runs of it, frozen where its service sleeps', () => {
  const db = databaseOf(VERSION_WITHOUT_SETS)
  db.run('PRAGMA foreign_keys = OFF')
  const service = (id: string, asleepHow: string | null) =>
    db
      .query(
        `INSERT INTO services (id, workspace_id, name, slug, type, uid, num_instances, settings, created_at, updated_at, asleep_at, asleep_how)
         VALUES (?1, 'wsp', ?1, ?1, 'web_service', (SELECT count(*) FROM services), 1, '{}', 0, 0, iif(?2 IS NULL, NULL, 1), ?2)`,
      )
      .run(id, asleepHow)
  const instance = (id: string, of: { service: string; deploy: string; generation: number; phase: string; frozenAt?: number }) => {
    db.query(
      `INSERT INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, start_at, created_at)
       VALUES (?, 'service', ?, 'instance', '{"deployId":"x","releaseId":"y"}', ?, 0, 0)`,
    ).run(id, of.service, of.phase)
    db.query('INSERT INTO service_instances (id, deploy_id, release_id, generation, frozen_at) VALUES (?, ?, ?, ?, ?)').run(
      ...[id, of.deploy, 'rel', of.generation, of.frozenAt ?? null],
    )
  }
  service('awake', null)
  service('asleep', 'freeze')
  instance('a', { service: 'awake', deploy: 'd1', generation: 0, phase: 'running' })
  instance('b', { service: 'awake', deploy: 'd1', generation: 0, phase: 'running' })
  instance('c', { service: 'awake', deploy: 'd1', generation: 1, phase: 'starting' })
  instance('d', { service: 'awake', deploy: 'd0', generation: 0, phase: 'stopping' })
  instance('e', { service: 'awake', deploy: 'd2', generation: 0, phase: 'running', frozenAt: 5 })
  instance('f', { service: 'asleep', deploy: 'd3', generation: 0, phase: 'running', frozenAt: 6 })
  for (const [id, purpose] of Object.entries({ 'dep-1-pre-deploy': 'pre_deploy', 'srv-shell-x': 'shell' }))
    db.query(
      `INSERT INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, start_at, created_at)
       VALUES (?, 'service', 'awake', ?, '{"deployId":"d9"}', 'running', 0, 1)`,
    ).run(id, purpose)
  migrateDatabase(db)
  expect(allSets(db).map(({ id, replicas, isFrozen, isDropped }) => [id, replicas, isFrozen, isDropped])).toEqual([
    ['d0.0', 0, false, true],
    ['d1.0', 2, false, false],
    ['d1.1', 1, false, false],
    ['d2.0', 1, false, false],
    ['d3.0', 1, true, false],
    ['dep-1-pre-deploy', 1, false, false],
  ])
  expect(allWorkloads(db).map(({ id, setId, frozenAt }) => [id, setId, frozenAt])).toEqual([
    ['a', 'd1.0', null],
    ['b', 'd1.0', null],
    ['c', 'd1.1', null],
    ['d', 'd0.0', null],
    ['e', 'd2.0', 5],
    ['f', 'd3.0', 6],
    ['dep-1-pre-deploy', 'dep-1-pre-deploy', null],
    ['srv-shell-x', null, null],
  ])
  expect(instanceSetsIn(setsOf(db, { ownerKind: 'service', ownerId: 'asleep' }))).toEqual([
    { deployId: 'd3', generation: 0, replicas: 1, isFrozen: true, isDropped: false },
  ])
  db.close()
})
