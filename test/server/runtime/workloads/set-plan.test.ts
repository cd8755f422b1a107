import { describe, expect, test } from 'vitest'
import { planWorkload, type WorkloadSituation } from '../../../../server/runtime/workloads/plan.ts'
import { mayBegin, planShape, type SetSituation } from '../../../../server/runtime/workloads/set-plan.ts'
import type { StoredWorkload } from '../../../../server/runtime/workloads/store.ts'

const NOW = 1_000_000

const replica = (id: string, phase: StoredWorkload['phase'] = 'running', changes: Partial<StoredWorkload> = {}): StoredWorkload => ({
  ...{ id, setId: 'set', ownerKind: 'echo', ownerId: 'echo-1', purpose: 'echo', node: 'local', epoch: null, spec: {}, phase },
  ...{ restarts: 0, exits: [], startAt: NOW, address: null, port: null, frozenAt: null, startedAt: null, createdAt: NOW, ...changes },
})

type Given = Partial<Omit<SetSituation, 'set'>> & { set?: Partial<SetSituation['set']> }

const situation = ({ set, ...given }: Given = {}): SetSituation => ({
  replicas: [],
  policy: { restarts: 'always' },
  isHeld: false,
  exclusiveAmong: undefined,
  ...given,
  set: { replicas: 1, isFrozen: false, isDropped: false, ...set },
})

const shape = (given: Given) => {
  const { surplus, ...rest } = planShape(situation(given))
  return { ...rest, surplus: surplus.map(({ id }) => id) }
}
const nothing = { missing: 0, surplus: [], isWaiting: false }

describe('the shape of a set', () => {
  test.each<[string, Given, ReturnType<typeof shape>]>([
    ['is left alone when it is as wanted', { replicas: [replica('a')] }, nothing],
    ['gains what is missing', { set: { replicas: 3 }, replicas: [replica('a')] }, { ...nothing, missing: 2 }],
    ['is not said to have what is on its way out', { replicas: [replica('a', 'stopping')] }, { ...nothing, missing: 1 }],
    [
      'loses first those that do least, and of equals the newest',
      { replicas: [replica('a'), replica('b', 'running', { createdAt: NOW + 1 }), replica('c', 'starting'), replica('d', 'pending')] },
      { ...nothing, surplus: ['d', 'c', 'b'] },
    ],
    [
      'loses all when it is dropped',
      { set: { isDropped: true }, replicas: [replica('a'), replica('b', 'stopping')] },
      { ...nothing, surplus: ['a'] },
    ],
    ['gains none while it is frozen', { set: { replicas: 2, isFrozen: true }, replicas: [replica('a')] }, nothing],
    ['shrinks while it is frozen', { set: { isFrozen: true }, replicas: [replica('a'), replica('b')] }, { ...nothing, surplus: ['b'] }],
    ['gains none while its owner holds it back', { isHeld: true }, { ...nothing, isWaiting: true }],
    [
      'gains one at a time where no two may be there',
      { set: { replicas: 2 }, exclusiveAmong: [] },
      { missing: 1, surplus: [], isWaiting: true },
    ],
    [
      'gains none there while anything else of the owner is left',
      { exclusiveAmong: [replica('other', 'ended', { setId: 'before' })] },
      { ...nothing, isWaiting: true },
    ],
    ['does not replace what is never restarted', { policy: { restarts: 'never' }, replicas: [replica('a', 'stopping')] }, nothing],
  ])('%s', (_, given, expected) => {
    expect(shape(given)).toEqual(expected)
  })
})

describe('a replica that waits', () => {
  const waiting = replica('a', 'pending')
  const begins = (given: Given, workload = waiting) => mayBegin(situation({ replicas: [workload], ...given }), workload)
  test.each<[string, boolean, Given]>([
    ['begins', true, {}],
    ['does not while its set is frozen', false, { set: { isFrozen: true } }],
    ['does not while its owner holds it back', false, { isHeld: true }],
    ['begins alone', true, { exclusiveAmong: [waiting] }],
    ['does not beside another that runs', false, { exclusiveAmong: [waiting, replica('b')] }],
    ['does not beside another that is on its way out', false, { exclusiveAmong: [waiting, replica('b', 'stopping')] }],
    ['does not before another that waited longer', false, { exclusiveAmong: [replica('b', 'pending'), waiting] }],
  ])('%s (%s)', (_, expected, given) => {
    expect(begins(given)).toBe(expected)
  })
  test('does not when it died in its sleep, whatever became of its set', () => {
    expect(begins({}, replica('a', 'pending', { frozenAt: NOW }))).toBe(false)
  })
})

describe('the plan of a replica', () => {
  const plan = (changes: Partial<WorkloadSituation> & Pick<WorkloadSituation, 'workload'>) =>
    planWorkload({
      ...{ now: NOW, seen: undefined, policy: { restarts: 'always' }, epoch: 'e', set: { isFrozen: false } },
      ...{ wasFrozen: false, mayBegin: true, ...changes },
    })
  const runs = { status: 'running', startedAt: '' } as WorkloadSituation['seen']
  test('starts it when it is due and not before', () => {
    expect(plan({ workload: replica('a', 'pending') })).toEqual({ kind: 'start' })
    expect(plan({ workload: replica('a', 'pending', { startAt: NOW + 50 }) })).toEqual({ kind: 'wait', until: NOW + 50 })
  })
  test('looks again in a moment at one that is held back, and not at one that sleeps', () => {
    expect(plan({ workload: replica('a', 'pending'), mayBegin: false })).toEqual({ kind: 'wait', until: NOW + 1000 })
    const asleep = { workload: replica('a', 'pending', { frozenAt: NOW }), mayBegin: false }
    expect(plan(asleep)).toEqual({ kind: 'wait', until: undefined })
  })
  test('freezes what runs of a frozen set once in the life of a control plane', () => {
    const frozen = { set: { isFrozen: true }, seen: runs, workload: replica('a', 'running', { frozenAt: NOW }) }
    expect(plan(frozen)).toEqual({ kind: 'freeze' })
    expect(plan({ ...frozen, wasFrozen: true })).toMatchObject({ kind: 'keep' })
    expect(plan({ ...frozen, workload: replica('a', 'starting') })).toMatchObject({ kind: 'keep' })
  })
  test('lets go on what is frozen of a set that is not', () => {
    expect(plan({ seen: runs, workload: replica('a', 'running', { frozenAt: NOW }) })).toEqual({ kind: 'thaw' })
  })
})
