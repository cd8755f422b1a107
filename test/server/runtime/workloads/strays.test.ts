import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  endOldStrays,
  endStrays,
  STRAY_KEPT_MS,
  type StrayOptions,
  sortStrays,
  straysIn,
} from '../../../../server/runtime/workloads/strays.ts'
import { type EchoWorld, makeEchoWorld, specOf } from './echo.ts'

let world: EchoWorld
let told: string[]
beforeEach(() => {
  world = makeEchoWorld('always')
  told = []
})
afterEach(() => world.close())

function options(changes: Partial<StrayOptions> = {}): StrayOptions {
  const { db, engine, clock } = world
  return {
    ...{ db, engine, now: clock.now },
    isKnown: (id) => world.rows().some((row) => row.id === id),
    mayStay: () => true,
    onFound: ({ id, serviceId }) => void told.push(`${id} of ${serviceId} found`),
    onEnded: ({ id }, why) => void told.push(`${id} ${why}`),
    ...changes,
  }
}

/** What an engine runs whose row a restored database lacks. */
async function unknown(id: string, command: string): Promise<void> {
  world.add(id, command)
  const [row] = world.rows().filter((one) => one.id === id)
  if (row !== undefined) await world.engine.start(specOf(row))
  world.db.query('DELETE FROM workloads WHERE id = ?').run(id)
  world.db.query('DELETE FROM sets WHERE id = ?').run(id)
  world.memory.replicas.delete(id)
  await world.clock.advance(10)
}

/** Ends take their time, which the clock of the tests gives them. */
async function meanwhile(ending: Promise<void>): Promise<void> {
  await world.clock.advance(0)
  await ending
}

const left = async () => [world.machine.running(), await world.engine.list(), straysIn(world.db)]

test('what runs and nobody knows is left running and told once, and ended when its time is over', async () => {
  await unknown('lost', 'serve')
  await sortStrays(options())
  await world.clock.advance(3_600_000)
  await sortStrays(options())
  await world.clock.advance(STRAY_KEPT_MS - 3_600_000 - 1)
  await endOldStrays(options())
  expect([world.machine.running(), told]).toEqual([['lost'], ['lost of echo-1 found']])
  await world.clock.advance(1)
  await meanwhile(endOldStrays(options()))
  expect([await left(), told]).toEqual([
    [[], [], []],
    ['lost of echo-1 found', 'lost expired'],
  ])
})

test('what has ended is forgotten, and what may not run beside others is ended at once', async () => {
  await unknown('over', 'exit 0')
  await unknown('with-disk', 'serve')
  await meanwhile(sortStrays(options({ mayStay: () => false })))
  expect([await left(), told]).toEqual([[[], [], []], []])
})

test('a stray that ends by itself is none any more', async () => {
  await unknown('brief', 'serve')
  await sortStrays(options())
  await meanwhile(world.engine.stop('brief', { graceMs: 0 }))
  await meanwhile(endOldStrays(options()))
  expect([await left(), told]).toEqual([
    [[], [], []],
    ['brief of echo-1 found', 'brief exited'],
  ])
})

test('an operator ends those that are named, twice without harm, and nothing that is known', async () => {
  await unknown('first', 'serve')
  await unknown('second', 'serve')
  world.add('known', 'serve')
  await world.pass(10)
  await sortStrays(options())
  await meanwhile(endStrays(options(), ['first', 'known']))
  await meanwhile(endStrays(options(), ['first']))
  expect(world.machine.running()).toEqual(['second', 'known'])
  expect([straysIn(world.db).map(({ id }) => id), told.slice(2)]).toEqual([['second'], ['first asked']])
})

test('what the right database knows again when it is back is no stray any more', async () => {
  await unknown('back', 'serve')
  await sortStrays(options())
  world.add('back', 'serve')
  await world.pass(10)
  await sortStrays(options())
  await world.clock.advance(2 * STRAY_KEPT_MS)
  await endOldStrays(options())
  expect([world.machine.running(), straysIn(world.db)]).toEqual([['back'], []])
})
