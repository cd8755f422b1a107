import { describe, expect, test } from 'vitest'
import { type JobSituation, jobTimeoutMs, nextDeadline, planJobs } from '../../../../server/apps/jobs/plan.ts'
import type { StoredJob } from '../../../../server/apps/workloads/job-store.ts'

const NOW = 1_000_000_000
const job = (id: string, changes: Partial<StoredJob> = {}): StoredJob => ({
  id,
  serviceId: 'srv',
  kind: 'one_off',
  startCommand: 'true',
  plan: null,
  phase: 'pending',
  deployId: null,
  releaseId: null,
  dueAt: null,
  triggeredBy: 'usr',
  stopAs: null,
  canceledBy: null,
  reason: null,
  exitCode: null,
  createdAt: NOW,
  startedAt: null,
  finishedAt: null,
  ...changes,
})
const running = (id: string, changes: Partial<StoredJob> = {}) => job(id, { phase: 'running', startedAt: NOW, ...changes })
const plan = (jobs: StoredJob[], changes: Partial<JobSituation> = {}) =>
  planJobs({ now: NOW, isSuspended: false, isDeleted: false, disk: 'ready', maxRunningRuns: 1, jobs, ...changes })

test('jobs start in their order as far as there is room, counting what is being stopped', () => {
  const busy = Array.from({ length: 8 }, (_, index) => running(`r${index}`))
  const stopping = running('s', { stopAs: 'canceled' })
  expect(plan([...busy, stopping, job('a'), job('b')])).toEqual([{ kind: 'start', jobId: 'a' }])
})

test('runs of a schedule take no place of other jobs, and have their own number', () => {
  const jobs = [running('run', { kind: 'cron' }), job('next', { kind: 'cron' }), job('other')]
  expect(plan(jobs)).toEqual([{ kind: 'start', jobId: 'other' }])
  expect(plan(jobs, { maxRunningRuns: 2 })).toEqual([
    { kind: 'start', jobId: 'next' },
    { kind: 'start', jobId: 'other' },
  ])
})

test('nothing starts while the disk of the service is being made, and what runs goes on', () => {
  expect(plan([running('r'), job('a')], { disk: 'making' })).toEqual([])
})

test('nothing runs while the disk of the service is being changed, and what waits goes on waiting', () => {
  const reason = 'The disk of the service is being changed.'
  expect(plan([running('r'), running('s', { stopAs: 'canceled' }), job('a')], { disk: 'changing' })).toEqual([
    { kind: 'stop', jobId: 'r', as: 'canceled', reason },
  ])
})

test.each([
  [{ isSuspended: true }, 'The service was suspended.'],
  [{ isDeleted: true }, 'The service was deleted.'],
])('a service that is off (%j) ends what waits and stops what runs, once', (changes, reason) => {
  const jobs = [running('r'), running('s', { stopAs: 'canceled' }), job('a')]
  expect(plan(jobs, changes)).toEqual([
    { kind: 'end', jobId: 'a', reason },
    { kind: 'stop', jobId: 'r', as: 'canceled', reason },
  ])
})

test('a job that was to be stopped before it began never starts', () => {
  expect(plan([job('a', { stopAs: 'canceled', reason: 'Replaced by b.' })])).toEqual([
    { kind: 'end', jobId: 'a', reason: 'Replaced by b.' },
  ])
})

describe('a job that takes too long', () => {
  test.each([
    ['one_off', 24],
    ['cron', 12],
  ] as const)('is stopped as failed: %s after %i h', (kind, hours) => {
    const one = running('r', { kind })
    expect(nextDeadline([one, job('a'), running('s', { stopAs: 'failed', startedAt: 0 })])).toBe(NOW + jobTimeoutMs[kind])
    expect(plan([one], { now: NOW + jobTimeoutMs[kind] - 1 })).toEqual([])
    expect(plan([one], { now: NOW + jobTimeoutMs[kind] })).toEqual([
      { kind: 'stop', jobId: 'r', as: 'failed', reason: `It took longer than ${hours} h.` },
    ])
  })

  test('is not looked for where none runs', () => {
    expect(nextDeadline([job('a')])).toBeUndefined()
  })
})
