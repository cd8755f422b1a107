import { describe, expect, test } from 'vitest'
import { type Action, describeExit, nextDueAt, planService, type Situation } from '../../../../server/apps/instances/plan.ts'
import { candidate, exits, guard, instance, NOW, situation } from './situations.ts'

const oldSet = { deployId: 'old', generation: 0 }
const newSet = { deployId: 'new', generation: 0 }
const apply = (set: typeof oldSet, replicas: number): Action => ({ kind: 'apply', set, replicas })
const drop = (set: typeof oldSet): Action => ({ kind: 'drop', set })
const ofNew = { deployId: 'new' } as const
const ofPrev = { deployId: 'prev' } as const
const stopFirst = { replaces: 'stop_first' } as const
const prevSet = { deployId: 'prev', generation: 0 }

const cases: [fact: string, given: Situation, planned: Action[]][] = [
  ['a service that is as wanted is left alone', situation({ instances: [instance('a')] }), []],
  ['a service of which nothing is live is left alone', situation({ service: { liveDeployId: null } }), []],
  ['a missing set is applied', situation({ service: { wantedInstances: 2 } }), [apply(oldSet, 2)]],
  ['one that is smaller than wanted grows', situation({ service: { wantedInstances: 2 }, instances: [instance('a')] }), [apply(oldSet, 2)]],
  ['the starts of its instances are not planned here', situation({ instances: [instance('a', 'pending')] }), []],
  ['one that is healthy is put into the routes', situation({ instances: [instance('a', 'ready')] }), [{ kind: 'serve', instanceId: 'a' }]],
  [
    'a set that is larger than wanted shrinks',
    situation({ instances: [instance('a'), instance('b', 'serving', { createdAt: NOW + 1 }), instance('c', 'starting')] }),
    [apply(oldSet, 1)],
  ],
  [
    'an instance too many is not put into the routes before it goes',
    situation({ instances: [instance('a'), instance('b', 'ready')] }),
    [apply(oldSet, 1)],
  ],
  ['a candidate grows beside the live set', situation({ candidate: candidate(), instances: [instance('a')] }), [apply(newSet, 1)]],
  [
    'a candidate of which a part is healthy is not switched to',
    situation({
      service: { wantedInstances: 2 },
      candidate: candidate(),
      instances: [instance('a'), instance('b', 'ready', ofNew), instance('c', 'starting', ofNew)],
    }),
    [],
  ],
  [
    'a candidate of which all is healthy is switched to',
    situation({ candidate: candidate(), instances: [instance('a'), instance('b', 'ready', ofNew)] }),
    [{ kind: 'switch', to: newSet }],
  ],
  [
    'a candidate that got healthy unseen is switched to though its time is over',
    situation({ candidate: candidate({ updateStartedAt: NOW - 60_000 }), instances: [instance('b', 'ready', ofNew)] }),
    [{ kind: 'switch', to: newSet }],
  ],
  [
    'a candidate without instances, of a static site, is switched to at once',
    situation({ service: { wantedInstances: 0 }, candidate: candidate() }),
    [{ kind: 'switch', to: newSet }],
  ],
  [
    'a candidate whose instance died for the third time fails, and tells how it ended',
    situation({
      candidate: candidate(),
      instances: [instance('a'), instance('b', 'pending', { ...ofNew, exits: exits(3), startAt: NOW + 9 })],
    }),
    [{ kind: 'fail_candidate', deployId: 'new', reason: 'It exited with code 1 before it was healthy, 3 times. See its logs.' }],
  ],
  [
    'a candidate that is not healthy in time fails',
    situation({ candidate: candidate({ updateStartedAt: NOW - 10_000 }), instances: [instance('b', 'starting', ofNew)] }),
    [
      {
        kind: 'fail_candidate',
        deployId: 'new',
        reason:
          'It did not become healthy within 10 s. Check that it listens on $PORT and answers its health check path, and see its logs.',
      },
    ],
  ],
  [
    'a candidate that died and is not healthy in time fails, and tells how it ended',
    situation({
      candidate: candidate({ updateStartedAt: NOW - 10_000 }),
      instances: [instance('b', 'pending', { ...ofNew, exits: exits(2), startAt: NOW + 9 })],
    }),
    [
      {
        kind: 'fail_candidate',
        deployId: 'new',
        reason: 'It exited with code 1 before it was healthy, and was not healthy within 10 s. See its logs.',
      },
    ],
  ],
  [
    'a candidate that has been switched to is concluded before anything else, be it canceled or suspended meanwhile',
    situation({
      service: { liveDeployId: 'new', isSuspended: true },
      candidate: candidate({ isCancelRequested: true }),
      instances: [instance('a'), instance('b', 'serving', ofNew)],
    }),
    [{ kind: 'conclude_candidate', deployId: 'new' }],
  ],
  [
    'a candidate that is to be canceled is canceled before anything else',
    situation({ candidate: candidate({ isCancelRequested: true }), instances: [instance('b', 'ready', ofNew)] }),
    [{ kind: 'cancel_candidate', deployId: 'new', reason: 'Canceled on request.' }],
  ],
  ['the set of an ended candidate goes', situation({ instances: [instance('a'), instance('b', 'pending', ofNew)] }), [drop(newSet)]],
  [
    'a restart grows beside the live set',
    situation({ service: { generation: 1 }, instances: [instance('a')] }),
    [apply({ deployId: 'old', generation: 1 }, 1)],
  ],
  [
    'a restart that is not healthy in time is given up',
    situation({
      service: { generation: 1 },
      instances: [instance('a'), instance('b', 'starting', { generation: 1, createdAt: NOW - 10_000 })],
    }),
    [
      {
        kind: 'abandon_restart',
        reason:
          'It did not become healthy within 10 s. Check that it listens on $PORT and answers its health check path, and see its logs.',
      },
    ],
  ],
  [
    'a suspended service loses its sets, those on their way out excepted',
    situation({
      service: { isSuspended: true },
      instances: [instance('a'), instance('b', 'draining', ofNew), instance('c', 'pending', ofPrev)],
    }),
    [drop(oldSet), drop(prevSet)],
  ],
  [
    'a suspension ends the candidate first',
    situation({ service: { isSuspended: true }, candidate: candidate(), instances: [instance('a')] }),
    [{ kind: 'cancel_candidate', deployId: 'new', reason: 'The service was suspended.' }],
  ],
  [
    'while a release is watched, the instances of the one before stand by',
    situation({ guard: guard(), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [],
  ],
  [
    'one that stands by and is healthy is not put into the routes',
    situation({ guard: guard(), instances: [instance('a'), instance('p', 'pending', ofPrev), instance('q', 'ready', ofPrev)] }),
    [],
  ],
  [
    'scaling while a release is watched is about the live set alone',
    situation({ guard: guard(), service: { wantedInstances: 2 }, instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [apply(oldSet, 2)],
  ],
  [
    'a release that does far worse is taken back',
    situation({ guard: guard({ verdict: 'Bad.' }), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [{ kind: 'flip_back', verdict: 'Bad.' }],
  ],
  [
    'also after the window, when nobody looked at it before',
    situation({
      guard: guard({ verdict: 'Bad.', until: NOW - 60_000, countedUntil: NOW }),
      instances: [instance('a'), instance('p', 'ready', ofPrev)],
    }),
    [{ kind: 'flip_back', verdict: 'Bad.' }],
  ],
  [
    'but not while no instance of the one before is healthy',
    situation({ guard: guard({ verdict: 'Bad.' }), instances: [instance('a'), instance('p', 'starting', ofPrev)] }),
    [],
  ],
  [
    'and no more when the window has ended without one',
    situation({ guard: guard({ verdict: 'Bad.', until: NOW }), instances: [instance('a'), instance('p', 'starting', ofPrev)] }),
    [{ kind: 'end_guard', because: 'no_way_back' }],
  ],
  [
    'a release has passed when its window is over',
    situation({ guard: guard({ until: NOW }), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [{ kind: 'end_guard', because: 'passed' }],
  ],
  [
    'but not before the requests of the whole window are known',
    situation({ guard: guard({ until: NOW, countedUntil: NOW - 1 }), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [],
  ],
  [
    'unless nobody can tell of them',
    situation({ guard: guard({ until: NOW - 5000, countedUntil: 0 }), instances: [instance('a')] }),
    [{ kind: 'end_guard', because: 'passed' }],
  ],
  [
    'a guard that is switched off ends, whatever the figures',
    situation({ guard: guard({ isEnabled: false, verdict: 'Bad.' }), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [{ kind: 'end_guard', because: 'switched_off' }],
  ],
  [
    'a suspension ends the guard before it takes the instances',
    situation({ guard: guard(), service: { isSuspended: true }, instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [{ kind: 'end_guard', because: 'suspended' }],
  ],
  [
    'when the guard is over, what stood by goes',
    situation({ instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [drop(prevSet)],
  ],
  [
    'a newer deploy grows beside both sets while a release is watched',
    situation({ guard: guard(), candidate: candidate(), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [apply(newSet, 1)],
  ],
  [
    'and after its switch the oldest set goes, while the one that was watched stands by',
    situation({
      service: { liveDeployId: 'new' },
      guard: guard({ previous: oldSet }),
      instances: [instance('a'), instance('b', 'serving', ofNew), instance('p', 'serving', ofPrev)],
    }),
    [drop(prevSet)],
  ],
  [
    'a restart while a release is watched replaces its instances, and what stands by is left alone',
    situation({
      service: { generation: 1, liveGeneration: 1 },
      guard: guard(),
      instances: [instance('a'), instance('b', 'serving', { generation: 1 }), instance('p', 'serving', ofPrev)],
    }),
    [drop(oldSet)],
  ],
  [
    'after the way back the release that did worse goes, and the one before is brought to its size',
    situation({
      service: { liveDeployId: 'prev', wantedInstances: 2 },
      instances: [instance('a'), instance('p', 'serving', ofPrev)],
    }),
    [drop(oldSet), apply(prevSet, 2)],
  ],
  [
    'the live set of a stop-first service is dropped before its candidate is applied',
    situation({ service: stopFirst, candidate: candidate(), instances: [instance('a')] }),
    [drop(oldSet)],
  ],
  [
    'nothing is applied in its place while it is on its way out',
    situation({ service: stopFirst, candidate: candidate(), instances: [instance('a', 'draining')] }),
    [],
  ],
  ['the candidate is applied when it is gone', situation({ service: stopFirst, candidate: candidate() }), [apply(newSet, 1)]],
  [
    'and has its whole time from then on, however long the drain was',
    situation({
      service: stopFirst,
      candidate: candidate({ updateStartedAt: NOW - 60_000 }),
      instances: [instance('b', 'starting', ofNew)],
    }),
    [],
  ],
  [
    'a stop-first candidate has no second try',
    situation({ service: stopFirst, candidate: candidate(), instances: [instance('b', 'pending', { ...ofNew, exits: exits(1) })] }),
    [{ kind: 'fail_candidate', deployId: 'new', reason: 'It exited with code 1 before it was healthy. See its logs.' }],
  ],
  [
    'when it has failed, it goes before the old release is applied again',
    situation({ service: stopFirst, instances: [instance('b', 'pending', ofNew)] }),
    [drop(newSet)],
  ],
  ['and then the old release is applied again', situation({ service: stopFirst }), [apply(oldSet, 1)]],
  [
    'a restart of a stop-first service drops first, too',
    situation({ service: { ...stopFirst, generation: 1 }, instances: [instance('a')] }),
    [drop(oldSet)],
  ],
  [
    'a stop-first service that had more instances keeps one of them',
    situation({
      service: { ...stopFirst, generation: 1 },
      instances: [instance('a', 'pending', { generation: 1 }), instance('b', 'pending', { generation: 1 })],
    }),
    [apply({ deployId: 'old', generation: 1 }, 1)],
  ],
  [
    'a set that is on its way out is applied again only when it has gone, where it is stop-first',
    situation({ service: stopFirst, instances: [instance('a', 'draining')] }),
    [],
  ],
  ['and at once where it is not', situation({ instances: [instance('a', 'draining')] }), [apply(oldSet, 1)]],
  [
    'a service that becomes stop-first while a release is watched ends the guard',
    situation({ service: stopFirst, guard: guard(), instances: [instance('a'), instance('p', 'serving', ofPrev)] }),
    [{ kind: 'end_guard', because: 'stop_first' }],
  ],
  [
    'a halted service loses its sets, and its candidate waits',
    situation({ service: { isHalted: true }, candidate: candidate(), instances: [instance('a'), instance('b', 'pending', ofNew)] }),
    [drop(oldSet), drop(newSet)],
  ],
  [
    'also those of which nothing is there yet',
    situation({ service: { isHalted: true }, sets: [{ ...oldSet, replicas: 1, isFrozen: false, isDropped: false }] }),
    [drop(oldSet)],
  ],
  ['a halted service without sets is left alone', situation({ service: { isHalted: true }, candidate: candidate() }), []],
  [
    'a deleted service goes only after its last instance',
    situation({ service: { isDeleted: true }, instances: [instance('a', 'draining')] }),
    [],
  ],
  ['a deleted service goes only after its last job', situation({ service: { isDeleted: true }, hasJobs: true }), []],
  ['a deleted service without instances goes', situation({ service: { isDeleted: true } }), [{ kind: 'remove_service' }]],
]

describe('the plan of a service', () => {
  test.each(cases)('%s', (_, given, planned) => {
    expect(planService(given)).toEqual(planned)
  })
})

describe('a plan falls due', () => {
  test('never for a service that is as wanted', () => {
    expect(nextDueAt(situation({ instances: [instance('a')] }))).toBeUndefined()
  })
  test('when the time of a candidate is over', () => {
    expect(nextDueAt(situation({ candidate: candidate() }))).toBe(NOW + 10_000)
  })
  test('when the time of a restart is over, counted from its first instance', () => {
    const instances = [instance('a'), instance('b', 'starting', { generation: 1, createdAt: NOW - 4000 })]
    expect(nextDueAt(situation({ service: { generation: 1 }, instances }))).toBe(NOW + 6000)
  })
  test('every second while a release is watched', () => {
    expect(nextDueAt(situation({ guard: guard(), instances: [instance('a')] }))).toBe(NOW + 1000)
  })
  test('not for the time of a candidate of a suspended service', () => {
    expect(nextDueAt(situation({ service: { isSuspended: true }, candidate: candidate() }))).toBeUndefined()
  })
})

describe('an end is described', () => {
  test.each([
    ['by its code', exits(1, { exitCode: 3 }), 'It exited with code 3'],
    ['by its signal', exits(1, { exitCode: null, signal: 'SIGSEGV' }), 'It was ended by SIGSEGV'],
    ['by memory before the signal', exits(1, { exitCode: null, signal: 'SIGKILL', why: 'out_of_memory' }), 'It ran out of memory'],
    ['without more when nobody saw it', exits(1, { exitCode: null }), 'It ended'],
    ['without more when there is none', [], 'It ended'],
    ['by the latest of several', [...exits(1, { exitCode: 1 }), ...exits(1, { exitCode: 2 })], 'It exited with code 2'],
  ])('%s', (_, given, text) => {
    expect(describeExit({ exits: given })).toBe(text)
  })
})
