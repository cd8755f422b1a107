import { afterEach, expect, test } from 'vitest'
import type { WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'
import { type EchoWorld, makeEchoWorld } from './echo.ts'

const SEEDS = 200
const TIMEOUT_MS = 120_000
const STEPS = 25
const MOST_WANTED = 4
/** Past the longest pause between two starts, several times over. */
const REST_MS = 90_000
/** More than there are faults still to come, each of which costs a try. */
const MOST_RESTS = 60

const calls = ['start', 'inspect', 'stop', 'remove'] as const
const faults = [{ kind: 'lost' }, { kind: 'refused' }, { kind: 'slow', delayMs: 700 }] as const

/** What may happen to machine, engine and control plane at any moment. */
const mishaps: ((world: EchoWorld, below: (limit: number) => number) => void)[] = [
  ({ machine }, below) => {
    const running = machine.running()
    if (running.length > 0) machine.crash(running[below(running.length)] ?? '')
  },
  ({ machine }, below) => machine.faults.inject(calls[below(calls.length)] ?? 'start', faults[below(faults.length)] ?? { kind: 'lost' }),
  ({ machine }, below) => machine.faults.inject(calls[below(calls.length)] ?? 'start', faults[below(faults.length)] ?? { kind: 'lost' }, 3),
  ({ machine }) => (machine.faults.isPartitioned ? machine.faults.heal() : machine.faults.partition()),
  ({ machine }) => machine.restart({ forgets: false }),
  ({ machine }) => machine.reboot(),
  (world) => world.replace(),
]

let world: EchoWorld
afterEach(() => world.close())

/** Nothing runs that has no row, and of no row more than one. */
function expectKnown(seed: number): void {
  const running = world.machine.running()
  const known = new Set(world.rows().map(({ id }) => id))
  expect(
    running.filter((id, index) => !known.has(id) || running.indexOf(id) !== index),
    `seed ${seed}`,
  ).toEqual([])
}

/** Brings the number of rows that are to run to what is wanted. */
function resize(wanted: number, newId: () => string): void {
  const kept = world.rows().filter(({ phase }) => phase !== 'stopping' && phase !== 'ended')
  for (const { id } of kept.slice(wanted)) world.stop(id)
  for (let missing = wanted - kept.length; missing > 0; missing--) world.add(newId(), 'listen; serve')
}

async function comeToRest(wanted: number): Promise<void> {
  world.machine.faults.heal()
  const isDone = () =>
    world.machine.running().length === wanted && world.rows().length === wanted && world.rows().every(({ phase }) => phase === 'running')
  for (let rest = 0; rest < MOST_RESTS && !isDone(); rest++) await world.pass(REST_MS)
  await world.pass(REST_MS)
}

function start(restarts: WorkloadPolicy['restarts']): () => string {
  let count = 0
  world = makeEchoWorld(restarts)
  return () => `echo-${++count}`
}

test(
  'whatever happens, as many run in the end as are wanted: none is doubled, and none is lost',
  async () => {
    const newId = start('always')
    for (let seed = 1; seed <= SEEDS; seed++) {
      const below = randomNumbers(seed)
      let wanted = 0
      for (let step = 0; step < STEPS; step++) {
        if (below(3) === 0) wanted = below(MOST_WANTED + 1)
        resize(wanted, newId)
        if (below(2) === 0) mishaps[below(mishaps.length)]?.(world, below)
        await world.pass(below(1500))
        expectKnown(seed)
      }
      await comeToRest(wanted)
      const rows = world.rows()
      expect(
        rows.map(({ phase }) => phase),
        `seed ${seed}`,
      ).toEqual(Array(wanted).fill('running'))
      expect(world.machine.running().sort(), `seed ${seed}`).toEqual(rows.map(({ id }) => id).sort())
      expect((await world.engine.list()).length, `seed ${seed}`).toBe(wanted)
    }
  },
  TIMEOUT_MS,
)

test(
  'whatever happens, what is to run once runs once at most, and its end is told once',
  async () => {
    const newId = start('never')
    for (let seed = 1; seed <= SEEDS; seed++) {
      const below = randomNumbers(seed)
      const ids: string[] = []
      for (let step = 0; step < STEPS; step++) {
        if (below(3) === 0) {
          const id = newId()
          ids.push(id)
          world.add(id, below(2) === 0 ? 'wait 2000; exit 0' : 'exit 3')
        }
        const [running] = world.rows()
        if (running !== undefined && running.phase !== 'ended' && below(10) === 0) world.stop(running.id)
        if (below(2) === 0) mishaps[below(mishaps.length)]?.(world, below)
        await world.pass(below(1500))
        expectKnown(seed)
      }
      await comeToRest(0)
      expect([world.rows(), await world.engine.list(), world.machine.running()], `seed ${seed}`).toEqual([[], [], []])
      for (const id of ids) {
        expect(world.machine.starts(id), `seed ${seed}, ${id}`).toBeLessThanOrEqual(1)
        expect(
          (world.ends.get(id) ?? []).filter((kind) => kind !== 'interrupted'),
          `seed ${seed}, ${id}`,
        ).toHaveLength(1)
      }
    }
  },
  TIMEOUT_MS,
)
