import { describe, expect, test } from 'vitest'
import { nextDueAt, planService, type Situation } from '../../../../server/apps/instances/plan.ts'
import type { SleepState } from '../../../../server/apps/instances/sleep-plan.ts'
import { awake, candidate, exits, guard, instance, NOW, situation } from './situations.ts'

const idle = (changes: Partial<SleepState> = {}): SleepState => ({ ...awake, wanted: 'freeze', dueAt: NOW, countedUntil: NOW, ...changes })
const asleep = (changes: Partial<SleepState> = {}): SleepState => idle({ asleep: 'freeze', ...changes })
const plan = (changes: Parameters<typeof situation>[0]) => planService(situation(changes))
const live = { deployId: 'old', generation: 0 }
const serving = [instance('a')]
const frozen = [instance('a', 'serving', { frozenAt: NOW })]

describe('an idle service', () => {
  test('falls asleep when it is due, in the way that is wanted', () => {
    expect(plan({ instances: serving, sleep: idle() })).toEqual([{ kind: 'fall_asleep', how: 'freeze' }])
    expect(plan({ instances: serving, sleep: idle({ wanted: 'stop' }) })).toEqual([{ kind: 'fall_asleep', how: 'stop' }])
  })
  test('is looked at again when it is due, and soon while the counts of the ingress are not known up to then', () => {
    const later = situation({ instances: serving, sleep: idle({ dueAt: NOW + 60_000 }) })
    expect([planService(later), nextDueAt(later)]).toEqual([[], NOW + 60_000])
    const unknown = situation({ instances: serving, sleep: idle({ countedUntil: NOW - 1 }) })
    expect([planService(unknown), nextDueAt(unknown)]).toEqual([[], NOW + 1000])
    const never = situation({ instances: serving, sleep: idle({ wanted: undefined }) })
    expect([planService(never), nextDueAt(never)]).toEqual([[], undefined])
  })
  test.each<[string, Partial<Omit<Situation, 'service'>> & { service?: Partial<Situation['service']> }]>([
    ['while an instance starts', { instances: [instance('a'), instance('b', 'starting')], service: { wantedInstances: 2 } }],
    [
      'while one is down',
      { instances: [instance('a'), instance('b', 'pending', { startAt: NOW + 1000 })], service: { wantedInstances: 2 } },
    ],
    ['while one drains', { instances: [instance('a'), instance('b', 'draining')] }],
    ['with nothing there', { instances: [], service: { wantedInstances: 0 } }],
    [
      'while a deploy is on its way',
      { candidate: candidate(), instances: [instance('a'), instance('n', 'starting', { deployId: 'new' })] },
    ],
    ['while a release is watched', { guard: guard(), instances: [instance('a'), instance('p', 'serving', { deployId: 'prev' })] }],
    ['during a restart', { service: { generation: 1 }, instances: [instance('a'), instance('n', 'starting', { generation: 1 })] }],
    ['while it is halted', { service: { isHalted: true }, instances: [] }],
  ])('does not fall asleep %s', (_, changes) => {
    const kinds = plan({ sleep: idle(), ...changes }).map(({ kind }) => kind)
    expect(kinds).not.toContain('fall_asleep')
  })
})

describe('a service that is to be asleep', () => {
  test('has its instances frozen, and then nothing is to be done', () => {
    expect(plan({ instances: serving, sleep: asleep() })).toEqual([{ kind: 'rest', how: 'freeze', sets: [live] }])
    expect(plan({ instances: frozen, sleep: asleep() })).toEqual([])
    expect(nextDueAt(situation({ instances: frozen, sleep: asleep() }))).toBeUndefined()
  })
  test('has them stopped, and none made in their place', () => {
    const stopped = asleep({ asleep: 'stop', wanted: 'stop' })
    expect(plan({ instances: serving, sleep: stopped })).toEqual([{ kind: 'rest', how: 'stop', sets: [live] }])
    expect(plan({ instances: [instance('a', 'draining')], sleep: stopped })).toEqual([])
    expect(plan({ instances: [], sleep: stopped })).toEqual([])
  })
  test('has one that died removed, not started', () => {
    const died = instance('b', 'pending', { exits: exits(1), frozenAt: NOW })
    expect(plan({ instances: [...frozen, died], sleep: asleep() })).toEqual([{ kind: 'replace', instanceId: 'b' }])
  })
  test.each<[string, Parameters<typeof situation>[0]]>([
    ['deploy', { candidate: candidate() }],
    ['deploy', { guard: guard() }],
    ['restart', { service: { generation: 1 } }],
    ['suspended', { service: { isSuspended: true } }],
    ['deleted', { service: { isDeleted: true } }],
    ['disk', { service: { isHalted: true } }],
    ['settings', { sleep: asleep({ wanted: undefined }) }],
    ['settings', { sleep: asleep({ wanted: 'stop' }) }],
  ])('is woken because of: %s', (because, changes) => {
    expect(plan({ instances: frozen, sleep: asleep(), ...changes })).toEqual([{ kind: 'wake', because }])
  })
})

describe('a service that wakes', () => {
  test('has thawed what may be frozen before anything else', () => {
    expect(plan({ instances: frozen, sleep: idle({ dueAt: NOW + 1000 }) })).toEqual([{ kind: 'thaw', set: live }])
    expect(plan({ instances: frozen, sleep: awake, service: { isSuspended: true } })).toEqual([{ kind: 'thaw', set: live }])
  })
  test('waits until that goes on, before anything else is done', () => {
    const thawing = [{ ...live, replicas: 1, isFrozen: false, isDropped: false }]
    expect(plan({ instances: frozen, sets: thawing, sleep: awake, candidate: candidate() })).toEqual([])
  })
  test('has made anew what was stopped or has died', () => {
    expect(plan({ instances: [], sleep: idle({ dueAt: NOW + 1000, hasWoken: true }) })).toEqual([{ kind: 'apply', set: live, replicas: 1 }])
  })
  test('has replaced, not started again, what died in its sleep', () => {
    const died = instance('b', 'pending', { exits: exits(1), frozenAt: NOW })
    expect(plan({ instances: [...frozen, died], sleep: idle({ dueAt: NOW + 1000 }) })).toEqual([{ kind: 'replace', instanceId: 'b' }])
  })
  test('by a deploy has its old release back beside the new one, since that may fail', () => {
    const woken = { candidate: candidate(), instances: [], sleep: idle({ hasWoken: true }) }
    expect(plan(woken)).toEqual([
      { kind: 'apply', set: live, replicas: 1 },
      { kind: 'apply', set: { deployId: 'new', generation: 0 }, replicas: 1 },
    ])
    expect(plan({ ...woken, service: { replaces: 'stop_first' } })).toEqual([
      { kind: 'apply', set: { deployId: 'new', generation: 0 }, replicas: 1 },
    ])
  })
})
