import { expect, test } from 'vitest'
import { createTestClock } from '../../../server/engines/fake/clock.ts'
import { createFakeEngine } from '../../../server/engines/fake/engine.ts'
import { createFakeMachine } from '../../../server/engines/fake/machine.ts'
import { makeFakeWorld, PREFERRED_PORT } from './world.ts'

const ignored = { data() {}, closed() {} }

function makeParts() {
  const clock = createTestClock()
  const machine = createFakeMachine(clock)
  return { clock, machine, engine: createFakeEngine(machine), world: makeFakeWorld(machine) }
}

test('a lost answer has taken effect, a refusal has not', async () => {
  const { machine, engine, world } = makeParts()
  const [lost, refused] = [world.instance(['serve']), world.instance(['serve'])]
  machine.faults.inject('start', { kind: 'lost' })
  await expect(engine.start(lost)).rejects.toMatchObject({ code: 'unavailable' })
  machine.faults.inject('start', { kind: 'refused' })
  await expect(engine.start(refused)).rejects.toMatchObject({ code: 'unavailable' })
  expect(machine.running()).toEqual([lost.instanceId])
  await engine.start(refused)
  expect(machine.running()).toEqual([lost.instanceId, refused.instanceId])
})

test('a slow answer comes when its time has passed', async () => {
  const { clock, machine, engine, world } = makeParts()
  machine.faults.inject('start', { kind: 'slow', delayMs: 5000 })
  let isStarted = false
  void engine.start(world.instance(['serve'])).then(() => {
    isStarted = true
  })
  await clock.advance(4999)
  expect(isStarted).toBe(false)
  await clock.advance(1)
  expect(isStarted).toBe(true)
})

test('a partition holds calls and ends back until it is healed', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([{ waitMs: 1000 }, { exit: 3 }])
  const told: unknown[] = []
  engine.onExit((id, { exitCode }) => told.push([id, exitCode]))
  await engine.start(spec)
  machine.faults.partition()
  let seen: unknown
  void engine.inspect(spec.instanceId).then((state) => {
    seen = state
  })
  await clock.advance(60_000)
  expect([told, seen]).toEqual([[], undefined])
  machine.faults.heal()
  await clock.advance(0)
  expect(told).toEqual([[spec.instanceId, 3]])
  expect(seen).toMatchObject({ status: 'exited', exitCode: 3 })
})

test('an engine that lost its records knows nothing of what goes on', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance(['serve'])
  await engine.start(spec)
  const { epoch } = engine
  machine.restart({ forgets: false })
  expect(engine.epoch).toBe(epoch)
  expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
  machine.restart({ forgets: true })
  expect(engine.epoch).not.toBe(epoch)
  expect(await engine.inspect(spec.instanceId)).toBeUndefined()
  expect(await engine.list()).toEqual([])
  expect(machine.running()).toEqual([spec.instanceId])
  await clock.advance(0)
})

test('after a reboot nobody knows how what ran has ended', async () => {
  const { machine, engine, world } = makeParts()
  const spec = world.instance(['serve'])
  await engine.start(spec)
  machine.reboot()
  expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: null, signal: null, why: 'unseen' })
})

test('a program is connected to once it listens, and no longer when it has ended', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([], { command: 'wait 200; listen; serve' })
  await engine.start(spec)
  const state = await engine.inspect(spec.instanceId)
  const address = (state?.status === 'running' && state.endpoint?.host) || ''
  await expect(machine.dial({ hostname: address, port: PREFERRED_PORT }, ignored)).rejects.toThrow('Nobody listens')
  await clock.advance(200)
  await machine.dial({ hostname: address, port: PREFERRED_PORT }, ignored)
  expect(await engine.listeners(spec.instanceId)).toEqual([{ port: PREFERRED_PORT, reach: 'address' }])
  machine.crash(spec.instanceId)
  await expect(machine.dial({ hostname: address, port: PREFERRED_PORT }, ignored)).rejects.toThrow('Nobody listens')
})

test('a frozen program does nothing until it is thawed', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([{ waitMs: 100 }, { print: 'done' }, { exit: 0 }])
  await engine.start(spec)
  await clock.advance(50)
  await engine.freeze(spec.instanceId)
  await clock.advance(10_000)
  expect(world.output(spec)).toBe('')
  await engine.thaw(spec.instanceId)
  await clock.advance(100)
  expect(world.output(spec)).toBe('done\n')
  expect(machine.starts(spec.instanceId)).toBe(1)
})

test('a program is spoken to by HTTP, and answers as it says', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([], { command: 'listen; answer 503; answer 204 /ready; answer nothing /silent; serve' })
  await engine.start(spec)
  await clock.advance(0)
  const state = await engine.inspect(spec.instanceId)
  const address = (state?.status === 'running' && state.endpoint?.host) || ''
  const ask = async (path: string) => {
    const told: string[] = []
    const on = { data: (bytes: Uint8Array) => void told.push(new TextDecoder().decode(bytes)), closed: () => void told.push('closed') }
    const connection = await machine.dial({ hostname: address, port: PREFERRED_PORT }, on)
    connection.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n`)
    connection.write('\r\n')
    await clock.advance(0)
    return told
  }
  expect(await ask('/')).toEqual([expect.stringContaining('HTTP/1.1 503 ')])
  expect(await ask('/ready')).toEqual([expect.stringContaining('HTTP/1.1 204 ')])
  const silent = await ask('/silent')
  expect(silent).toEqual([])
  machine.crash(spec.instanceId)
  await clock.advance(0)
  expect(silent).toEqual(['closed'])
})

test('output that was rotated away unread is told as a gap, and only once', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([{ print: '0123456789' }, 'serve'])
  await engine.start(spec)
  await clock.advance(0)
  const name = { ownerId: spec.owner.id, name: spec.outputName }
  const output = engine.output.open(name)
  const after = (await output.read({ maxBytes: 4 }))?.cursorAt(4) ?? ''
  machine.outputs.rotate(name, 8)
  expect(await output.read({ after, maxBytes: 1 })).not.toHaveProperty('hasGap')
  machine.outputs.rotate(name, 3)
  const rest = await output.read({ after, maxBytes: 100 })
  expect(rest).toMatchObject({ hasGap: true, skippedBytes: 0, unreadBytes: 0 })
  expect(Buffer.from(rest?.bytes ?? []).toString()).toBe('89\n')
  expect(await output.read({ after: rest?.cursorAt(3) ?? '', maxBytes: 100 })).not.toHaveProperty('hasGap')
})

test('of output nothing new is told during a partition, and nothing is lost by it', async () => {
  const { clock, machine, engine, world } = makeParts()
  const spec = world.instance([{ waitMs: 10 }, { print: 'late' }, 'serve'])
  await engine.start(spec)
  const output = engine.output.open({ ownerId: spec.owner.id, name: spec.outputName })
  machine.faults.partition()
  await clock.advance(10)
  expect(output.hasNew()).toBe(false)
  machine.faults.heal()
  expect(output.hasNew()).toBe(true)
  machine.faults.inject('readOutput', { kind: 'lost' })
  await expect(output.read({ maxBytes: 100 })).rejects.toMatchObject({ code: 'unavailable' })
  expect(output.hasNew()).toBe(true)
  expect(Buffer.from((await output.read({ maxBytes: 100 }))?.bytes ?? []).toString()).toBe('late\n')
})
