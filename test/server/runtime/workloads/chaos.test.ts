import { afterEach, expect, test } from 'vitest'
import type { WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import type { StoredWorkload } from '../../../../server/runtime/workloads/store.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'
import { type EchoWorld, makeEchoWorld } from './echo.ts'

const SEEDS = 200
const TIMEOUT_MS = 120_000
const STEPS = 25
const MOST_REPLICAS = 3
const SET_IDS = ['a', 'b', 'c']
/** Past the longest pause between two starts, several times over. */
const REST_MS = 90_000
/** More than there are faults still to come, each of which costs a try. */
const MOST_RESTS = 60

const calls = ['start', 'inspect', 'stop', 'remove', 'freeze', 'thaw'] as const
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

/** What is wanted of each set that is not dropped. */
type Wanted = Map<string, { replicas: number; isFrozen: boolean }>

const isActive = ({ phase }: StoredWorkload): boolean => phase !== 'stopping' && phase !== 'ended'
const activeOf = (setId: string): StoredWorkload[] => world.rows().filter((row) => row.setId === setId && isActive(row))

type Wish = (given: { wanted: Wanted; id: string; below: (limit: number) => number }) => void

const apply: Wish = ({ wanted, id, below }) => {
  const replicas = below(MOST_REPLICAS + 1)
  wanted.set(id, { isFrozen: wanted.get(id)?.isFrozen ?? false, replicas })
  world.add(id, COMMAND, replicas)
}
const drop: Wish = ({ wanted, id }) => {
  wanted.delete(id)
  world.stop(id)
}
const replaceOne: Wish = ({ id, below }) => {
  const active = activeOf(id)
  const chosen = active[below(Math.max(1, active.length))]
  if (chosen !== undefined) world.sets().replace(chosen.id)
}
const freezeOrNot: Wish = ({ wanted, id }) => {
  const set = wanted.get(id)
  if (set === undefined) return
  set.isFrozen = !set.isFrozen
  world.sets().freeze(id, set.isFrozen)
}
const wishes: readonly Wish[] = [apply, apply, apply, drop, replaceOne, freezeOrNot]

const COMMAND = 'listen; serve'

/** What an owner does about those that died in their sleep. */
function replaceDead(): void {
  for (const { id, phase, frozenAt } of world.rows()) if (phase === 'pending' && frozenAt !== null) world.sets().replace(id)
}

async function passUntil(isDone: () => boolean): Promise<void> {
  world.machine.faults.heal()
  for (let rest = 0; rest < MOST_RESTS && !isDone(); rest++) {
    replaceDead()
    await world.pass(REST_MS)
  }
  await world.pass(REST_MS)
}

/** No set has more that are to stay than it wants, and every row is of a set that is known. */
function expectShape(seed: number, wanted: Wanted): void {
  const active = world.rows().filter(isActive)
  for (const [setId, rows] of Map.groupBy(active, (row) => row.setId ?? ''))
    expect(rows.length, `seed ${seed}, ${setId}`).toBeLessThanOrEqual(wanted.get(setId)?.replicas ?? 0)
}

function start(restarts: WorkloadPolicy['restarts'], options: { isExclusive?: boolean } = {}): void {
  world = makeEchoWorld(restarts, options)
}

/** One life of a world: wishes and mishaps, and what must hold whenever one looks. */
async function live(seed: number, wanted: Wanted, check: () => void): Promise<void> {
  const below = randomNumbers(seed)
  for (let step = 0; step < STEPS; step++) {
    const id = SET_IDS[below(SET_IDS.length)] ?? 'a'
    if (below(2) === 0) wishes[below(wishes.length)]?.({ wanted, id, below })
    expectShape(seed, wanted)
    if (below(2) === 0) mishaps[below(mishaps.length)]?.(world, below)
    await world.pass(below(1500))
    expectKnown(seed)
    check()
  }
}

function sizesOf(rows: readonly StoredWorkload[]): Record<string, number> {
  return Object.fromEntries(SET_IDS.map((id) => [id, rows.filter(({ setId }) => setId === id).length]))
}

test(
  'whatever happens, as many of each set run in the end as are wanted: none is doubled, and none is lost',
  async () => {
    start('always')
    const wanted: Wanted = new Map()
    for (let seed = 1; seed <= SEEDS; seed++) {
      await live(seed, wanted, () => {})
      for (const [id, set] of wanted) {
        set.isFrozen = false
        world.sets().freeze(id, false)
      }
      const sizes = Object.fromEntries(SET_IDS.map((id) => [id, wanted.get(id)?.replicas ?? 0]))
      const count = Object.values(sizes).reduce((sum, size) => sum + size, 0)
      await passUntil(() => world.machine.running().length === count && world.rows().every(isAsWanted))
      const rows = world.rows()
      expect([sizesOf(rows), rows.every(isAsWanted)], `seed ${seed}`).toEqual([sizes, true])
      expect(world.machine.running().sort(), `seed ${seed}`).toEqual(rows.map(({ id }) => id).sort())
      expect((await world.engine.list()).length, `seed ${seed}`).toBe(count)
      const known = world.sets().sets({ ownerKind: 'echo', ownerId: 'echo-1' })
      expect(known.map(({ id }) => id).sort(), `seed ${seed}`).toEqual([...wanted.keys()].sort())
    }
  },
  TIMEOUT_MS,
)

const isAsWanted = ({ phase, frozenAt }: StoredWorkload): boolean => phase === 'running' && frozenAt === null

test(
  'whatever happens, no two of an owner that may have only one are there at once, and in the end the one that is wanted runs',
  async () => {
    start('always', { isExclusive: true })
    const wanted: Wanted = new Map()
    for (let seed = 1; seed <= SEEDS; seed++) {
      await live(seed, wanted, () => expect(world.machine.running().length, `seed ${seed}`).toBeLessThanOrEqual(1))
      for (const id of SET_IDS) drop({ wanted, id, below: () => 0 })
      world.add('a', COMMAND, 1)
      wanted.set('a', { replicas: 1, isFrozen: false })
      await passUntil(() => world.rows().length === 1 && world.rows().every(isAsWanted))
      expect([sizesOf(world.rows()), world.machine.running().length], `seed ${seed}`).toEqual([{ a: 1, b: 0, c: 0 }, 1])
    }
  },
  TIMEOUT_MS,
)

test(
  'whatever happens, what is to run once runs once at most, and its end is told once',
  async () => {
    start('never')
    let count = 0
    for (let seed = 1; seed <= SEEDS; seed++) {
      const below = randomNumbers(seed)
      const ids: string[] = []
      for (let step = 0; step < STEPS; step++) {
        if (below(3) === 0) {
          const id = `echo-${++count}`
          ids.push(id)
          world.add(id, below(2) === 0 ? 'wait 2000; exit 0' : 'exit 3')
        }
        const [running] = world.rows()
        if (running !== undefined && running.phase !== 'ended' && below(10) === 0) world.stop(running.id)
        if (below(2) === 0) mishaps[below(mishaps.length)]?.(world, below)
        await world.pass(below(1500))
        expectKnown(seed)
      }
      await passUntil(() => world.rows().length === 0)
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
