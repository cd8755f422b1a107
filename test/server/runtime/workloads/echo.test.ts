import { afterEach, expect, test } from 'vitest'
import type { WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import { type EchoOptions, type EchoWorld, makeEchoWorld } from './echo.ts'

let world: EchoWorld
const given = (restarts: WorkloadPolicy['restarts'], options: Omit<EchoOptions, 'restarts'> = {}) => {
  world = makeEchoWorld(restarts, options)
  return world
}
afterEach(() => world.close())
const phases = () => world.rows().map(({ phase }) => phase)

test('an owner of a new kind has something run, restarted with growing pauses, and stopped, with a policy and nothing else', async () => {
  const { machine, ends } = given('always')
  world.add('a', 'wait 100; exit 1')
  await world.pass(50)
  expect([machine.running(), phases()]).toEqual([['a'], ['running']])
  const startedAfter = async (ms: number) => {
    await world.pass(ms)
    await world.pass(0)
    return machine.starts('a')
  }
  expect(await startedAfter(60)).toBe(1)
  expect(phases()).toEqual(['pending'])
  expect(await startedAfter(900)).toBe(1)
  expect(await startedAfter(200)).toBe(2)
  await startedAfter(100)
  expect(await startedAfter(1800)).toBe(2)
  expect(await startedAfter(150)).toBe(3)
  expect(ends.get('a')).toEqual(['failed', 'failed'])
  world.stop('a')
  await world.pass(2000)
  expect([machine.running(), phases(), await world.engine.list()]).toEqual([[], [], []])
})

test('what its policy does not restart runs once, and its end is told once', async () => {
  const { machine, ends } = given('never')
  world.add('a', 'wait 100; exit 1')
  await world.pass(200)
  await world.pass(60_000)
  expect([machine.starts('a'), ends.get('a'), world.rows()]).toEqual([1, ['over'], []])
})

test('what cannot be started is told as refused, and is over where it is not restarted', async () => {
  const { machine, ends } = given('never')
  machine.faults.inject('start', { kind: 'refused' })
  world.add('a', 'serve')
  await world.pass(100)
  expect([machine.starts('a'), ends.get('a'), world.rows()]).toEqual([0, ['refused'], []])
})

test('a start whose answer was lost is no failure', async () => {
  const { machine, ends } = given('always')
  machine.faults.inject('start', { kind: 'lost' })
  world.add('a', 'serve')
  await world.pass(100)
  expect([machine.running(), phases(), ends.get('a')]).toEqual([['a'], ['running'], undefined])
})

test('an engine that does not answer has nothing concluded, and nothing started elsewhere', async () => {
  const { machine, ends } = given('always')
  world.add('a', 'serve')
  await world.pass(100)
  machine.faults.partition()
  await world.pass(3_600_000)
  world.replace()
  await world.pass(3_600_000)
  expect(phases()).toEqual(['running'])
  machine.faults.heal()
  await world.pass(100)
  expect([machine.running(), machine.starts('a'), ends.get('a')]).toEqual([['a'], 1, undefined])
})

test('what the records of the same engine lack never began; what a new engine lacks may have run, and does not run again', async () => {
  const { machine, ends } = given('never')
  const leftStarting = (id: string, epoch: string) => {
    world.add(id, 'exit 0')
    world.db.query("UPDATE workloads SET phase = 'starting', epoch = ? WHERE id = ?").run(epoch, id)
  }
  const before = machine.epoch
  machine.restart({ forgets: true })
  leftStarting('same', machine.epoch)
  leftStarting('other', before)
  await world.pass(100)
  await world.pass(100)
  expect([machine.starts('same'), machine.starts('other')]).toEqual([1, 0])
  expect([ends.get('same'), ends.get('other')]).toEqual([['interrupted', 'over'], ['over']])
})

const idsOf = () => world.rows().map(({ id }) => id)
const set = (replicas: number, command = 'serve') => world.add('a', command, replicas)
const kept = () => world.sets().sets({ ownerKind: 'echo', ownerId: 'echo-1' })

test('a set has as many as are wanted, the same twice is nothing, and dropping twice is nothing', async () => {
  const { machine } = given('always')
  set(2)
  await world.pass(10)
  expect(machine.running()).toEqual(['a', 'a-1'])
  set(2)
  await world.pass(10)
  expect([machine.running(), machine.starts('a')]).toEqual([['a', 'a-1'], 1])
  set(3)
  await world.pass(10)
  expect(machine.running()).toEqual(['a', 'a-1', 'a-2'])
  set(0)
  await world.pass(2000)
  expect([machine.running(), kept().map(({ replicas }) => replicas)]).toEqual([[], [0]])
  world.stop('a')
  world.stop('a')
  await world.pass(10)
  expect([world.rows(), kept()]).toEqual([[], []])
})

test('another program under the id of a set that is known is refused', () => {
  given('always')
  set(1)
  expect(() => set(1, 'exit 0')).toThrow(expect.objectContaining({ code: 'conflict' }))
})

test('a set that is applied while it is being dropped begins anew, and what is on its way out goes', async () => {
  const { machine } = given('always')
  set(1, 'deaf; serve')
  await world.pass(10)
  world.stop('a')
  set(1, 'deaf; serve')
  await world.pass(10)
  expect(machine.running()).toEqual(['a', 'a-1'])
  await world.pass(2000)
  expect([machine.running(), phases()]).toEqual([['a-1'], ['running']])
})

test('what is written is there before the engine is asked, and part of the transaction of whoever writes', async () => {
  given('always')
  expect(() =>
    world.db.transaction(() => {
      set(2)
      expect(idsOf()).toEqual(['a', 'a-1'])
      throw new Error('no')
    })(),
  ).toThrow('no')
  await world.pass(10)
  expect([world.rows(), kept(), world.machine.running()]).toEqual([[], [], []])
})

test('a replica gives way to another of its set', async () => {
  const { machine } = given('always')
  set(2)
  await world.pass(10)
  world.sets().replace('a')
  expect(idsOf()).toEqual(['a', 'a-1', 'a-2'])
  await world.pass(2000)
  expect(machine.running()).toEqual(['a-1', 'a-2'])
})

test('what is frozen stands still, begins no other, and goes on when it is to', async () => {
  const { machine } = given('always')
  set(1, 'wait 1000; exit 3')
  await world.pass(500)
  world.sets().freeze('a', true)
  await world.pass(10)
  set(2, 'wait 1000; exit 3')
  await world.pass(60_000)
  expect([machine.running(), world.ends.get('a'), world.rows().map(({ frozenAt }) => frozenAt !== null)]).toEqual([
    ['a'],
    undefined,
    [true],
  ])
  world.sets().freeze('a', false)
  await world.pass(10)
  expect([idsOf(), world.rows().map(({ frozenAt }) => frozenAt)]).toEqual([
    ['a', 'a-1'],
    [null, null],
  ])
  await world.pass(500)
  expect(world.ends.get('a')).toEqual(['failed'])
})

test('what was frozen is frozen again after a start of the control plane, and its owner is told when that fails', async () => {
  const { machine, memory } = given('always')
  set(1)
  await world.pass(10)
  world.sets().freeze('a', true)
  await world.pass(10)
  world.replace()
  machine.faults.inject('freeze', { kind: 'refused' })
  await world.pass(10)
  expect(memory.freezesFailed).toEqual(['a'])
})

test('what died in its sleep waits until its owner has it replaced', async () => {
  const { machine } = given('always')
  set(1)
  await world.pass(10)
  world.sets().freeze('a', true)
  await world.pass(10)
  machine.crash('a')
  await world.pass(120_000)
  world.sets().freeze('a', false)
  await world.pass(120_000)
  expect([machine.running(), phases()]).toEqual([[], ['pending']])
  world.sets().replace('a')
  await world.pass(10)
  expect([machine.running(), phases()]).toEqual([['a-1'], ['running']])
})

test('what its owner holds back does not begin, and begins in a moment when that is over', async () => {
  const { machine, memory } = given('always')
  memory.isHeld = true
  set(1)
  await world.pass(5000)
  expect([machine.running(), world.rows()]).toEqual([[], []])
  memory.isHeld = false
  await world.clock.advance(1000)
  await world.clock.advance(10)
  expect(machine.running()).toEqual(['a'])
})

test('after a start, what an earlier control plane wrote is not said to be known before the engine was asked', async () => {
  const { machine } = given('always')
  set(1)
  await world.pass(10)
  const owner = { ownerKind: 'echo', ownerId: 'echo-1' }
  machine.crash('a')
  world.replace()
  await world.sets().recover()
  machine.faults.partition()
  await world.pass(1000)
  expect([world.sets().isKnown(owner), phases()]).toEqual([false, ['running']])
  const told: string[] = []
  world.sets().onChange(({ ownerId }) => void told.push(ownerId))
  machine.faults.heal()
  await world.pass(10)
  expect([world.sets().isKnown(owner), phases(), told]).toEqual([true, ['pending'], expect.arrayContaining(['echo-1'])])
})

test('a wait for health that cannot be kept up is begun again after a pause, and not at once', async () => {
  let waits = 0
  const untilReady = async () => {
    waits += 1
    throw new Error('cannot be asked')
  }
  given('always', { untilReady })
  world.add('a', 'serve')
  for (let turn = 0; turn < 100; turn++) await world.pass(0)
  expect([waits, phases()]).toEqual([1, ['starting']])
  await world.pass(10_000)
  expect(waits).toBeGreaterThan(1)
})

test('nobody waits for the health of a run that ended just before the wait began', async () => {
  const waits: AbortSignal[] = []
  const untilReady = async (_: unknown, signal: AbortSignal) => {
    waits.push(signal)
    return await new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
  }
  const { machine } = given('always', { untilReady })
  machine.faults.inject('inspect', { kind: 'slow', delayMs: 100 }, 3)
  world.add('a', 'serve')
  await world.pass(250)
  machine.crash('a')
  await world.pass(3000)
  expect([machine.starts('a'), machine.running(), phases()]).toEqual([2, ['a'], ['starting']])
  expect(waits.filter(({ aborted }) => !aborted)).toHaveLength(1)
})
