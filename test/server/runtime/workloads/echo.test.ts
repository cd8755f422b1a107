import { afterEach, expect, test } from 'vitest'
import type { WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import { type EchoWorld, makeEchoWorld } from './echo.ts'

let world: EchoWorld
const given = (restarts: WorkloadPolicy['restarts']) => {
  world = makeEchoWorld(restarts)
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
