import { afterEach, beforeEach, expect, test } from 'vitest'
import { endOldStrays, STRAY_KEPT_MS, type StrayOptions, sortStrays, straysIn } from '../../../../server/runtime/workloads/strays.ts'
import { type EchoWorld, makeEchoWorld, specOf } from './echo.ts'

let world: EchoWorld
let reported: Record<string, unknown>[]
beforeEach(() => {
  world = makeEchoWorld('always')
  reported = []
})
afterEach(() => world.close())

function options(changes: Partial<StrayOptions> = {}): StrayOptions {
  const { db, engine, clock } = world
  const log = { info() {}, error: (_: string, fields?: Record<string, unknown>) => void reported.push(fields ?? {}) }
  return { db, engine, log, now: clock.now, isKnown: (id) => world.rows().some((row) => row.id === id), mayStay: () => true, ...changes }
}

/** What an engine runs whose row a restored database lacks. */
async function unknown(id: string, command: string): Promise<void> {
  world.add(id, command)
  const [row] = world.rows().filter((one) => one.id === id)
  if (row !== undefined) await world.engine.start(specOf(row))
  world.db.query('DELETE FROM workloads WHERE id = ?').run(id)
  await world.clock.advance(10)
}

test('what runs and nobody knows is left running and reported at every start, and ended when its time is over', async () => {
  await unknown('lost', 'serve')
  await sortStrays(options())
  await world.clock.advance(3_600_000)
  await sortStrays(options())
  const endsAt = new Date(world.clock.now() - 3_600_000 + STRAY_KEPT_MS).toISOString()
  expect(reported).toEqual(Array(2).fill(expect.objectContaining({ workloadId: 'lost', serviceId: 'echo-1', endsAt })))
  await world.clock.advance(STRAY_KEPT_MS - 3_600_000 - 1)
  await endOldStrays(options())
  expect(world.machine.running()).toEqual(['lost'])
  await world.clock.advance(1)
  const ended = endOldStrays(options())
  await world.clock.advance(0)
  await ended
  expect([world.machine.running(), await world.engine.list(), straysIn(world.db)]).toEqual([[], [], []])
})

test('what has ended is forgotten, and what may not run beside others is ended at once', async () => {
  await unknown('over', 'exit 0')
  await unknown('with-disk', 'serve')
  const sorted = sortStrays(options({ mayStay: () => false }))
  await world.clock.advance(0)
  await sorted
  expect([world.machine.running(), await world.engine.list(), straysIn(world.db), reported]).toEqual([[], [], [], []])
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
