import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFakeMachine } from '../../../../server/engines/fake/machine.ts'
import { type Collector, createCollector } from '../../../../server/telemetry/logs/collector.ts'
import type { LogLine } from '../../../../server/telemetry/logs/line.ts'
import { createOutputLogs, type LoggedOutput } from '../../../../server/telemetry/logs/outputs.ts'
import type { LogStore } from '../../../../server/telemetry/logs/store.ts'
import { type Fixture, makeStore, randomFrom, until } from './fixture.ts'

let fixture: Fixture
let machine = createFakeMachine()
const live: LogLine[] = []
const errors: unknown[] = []
const collectors: Collector[] = []

beforeEach(() => {
  fixture = makeStore()
  machine = createFakeMachine()
  live.length = 0
  errors.length = 0
  fixture.store.listen((lines) => live.push(...lines))
})
afterEach(async () => {
  for (const collector of collectors.splice(0)) await collector.stop()
  fixture.remove()
})

/** A control plane of its own on the same store and machine. */
function open({ pollMs = 2, store = fixture.store, ...options }: { pollMs?: number; store?: LogStore; longestWaitMs?: number } = {}) {
  const onError = (error: unknown) => errors.push(error)
  const collector = createCollector({ store, pollMs, onError })
  collectors.push(collector)
  return { collector, logs: createOutputLogs({ outputs: machine.outputs.port(machine.faults), collector, store, onError, ...options }) }
}

const output: LoggedOutput = { ownerId: 'srv-a', name: 'srv-a-1', instance: 'srv-a-1', deployId: 'dep-1', type: 'app' }
const write = (text: string, name = output.name) =>
  machine.outputs.append({ ownerId: 'srv-a', outputName: name, kind: 'instance' }, new TextEncoder().encode(text))
const messages = () => live.map(({ type, message }) => `${type}: ${message}`)

test('a remark stands behind everything that was written before it, and among the lines of its workload', async () => {
  const { logs } = open({ pollMs: 10_000 })
  logs.follow(output)
  write('one\nno newline')
  logs.remark(output, '==> It exited with code 1.')
  logs.remark(output, 'two\nlines')
  await logs.remarked(output)
  write('next run\n')
  await logs.close(output)
  expect(messages()).toEqual([
    'app: one',
    'app: no newline',
    'platform: ==> It exited with code 1.',
    'platform: two',
    'platform: lines',
    'app: next run',
  ])
  const { resource, instance, deployId } = live[2] ?? {}
  expect({ resource, instance, deployId }).toEqual({ resource: 'srv-a', instance: 'srv-a-1', deployId: 'dep-1' })
})

test('a remark in the log of a deploy stands behind what instances of its service have written, and leaves their last lines whole', async () => {
  const { logs } = open({ pollMs: 10_000 })
  const deploy: LoggedOutput = { ...output, name: 'dep-1.build', instance: 'dep-1', type: 'build' }
  for (const one of [output, deploy, { ...output, ownerId: 'srv-ab' }]) logs.follow(one)
  write('built', deploy.name)
  write('up\nserv')
  logs.remark(deploy, '==> Live.')
  await logs.remarked(deploy)
  write('ing\n')
  await logs.close(output)
  expect(messages()).toEqual(['build: built', 'app: up', 'platform: ==> Live.', 'app: serving'])
})

test('an output that is closed has all of its remarks, and is gone; closing it again does nothing', async () => {
  const { logs } = open()
  logs.follow(output)
  write('one\n')
  logs.remark(output, 'over')
  await logs.close(output)
  expect(messages()).toEqual(['app: one', 'platform: over'])
  expect(await logs.list('srv-a')).toEqual([])
  expect(fixture.store.cursor('srv-a/srv-a-1')).toBeUndefined()
  await logs.close(output)
  logs.remark(output, 'later')
  await logs.settled()
  expect(messages().slice(2)).toEqual(['platform: later'])
})

test('very many remarks at once keep nobody else waiting, and stand in their order', async () => {
  const { logs } = open({ pollMs: 10_000 })
  let turns = 0
  const count = () => {
    turns++
    setImmediate(count).unref()
  }
  count()
  for (let remark = 0; remark < 300; remark++) logs.remark(output, `remark ${remark}`)
  await logs.settled()
  expect(turns).toBeGreaterThan(250)
  expect(messages()).toEqual(Array.from({ length: 300 }, (_, remark) => `platform: remark ${remark}`))
})

test('a remark that finds no room is left out and reported, and so is one while nothing can be collected', async () => {
  let isFull = true
  const store: LogStore = {
    ...fixture.store,
    append: (...given) => {
      if (isFull) throw new Error('database or disk is full')
      return fixture.store.append(...given)
    },
  }
  const { logs } = open({ pollMs: 10_000, store })
  logs.follow(output)
  write('kept for later\n')
  logs.remark(output, 'lost')
  await logs.remarked(output)
  expect(errors.map(String)).toEqual(['Error: database or disk is full', 'Error: database or disk is full'])
  isFull = false
  machine.faults.inject('readOutput', { kind: 'refused' })
  logs.remark(output, 'stored all the same')
  await logs.settled()
  await logs.close(output)
  expect(messages()).toEqual(['platform: stored all the same', 'app: kept for later'])
})

test('the newest lines are those of one workload with its remarks, however lately they were written', async () => {
  const { logs } = open({ pollMs: 10_000 })
  const other = { ...output, name: 'srv-a-2', instance: 'srv-a-2' }
  for (const one of [output, other]) logs.follow(one)
  write('one\ntwo\n')
  write('of another\n', other.name)
  logs.remark(output, 'three')
  expect((await logs.newestLines(output, 2)).map(({ message }) => message)).toEqual(['two', 'three'])
  write('four')
  expect((await logs.newestLines(output, 2)).map(({ message }) => message)).toEqual(['three', 'four'])
})

test('an output that nobody knows is removed without a line', async () => {
  const { logs } = open({ pollMs: 10_000 })
  write('whose?\n')
  await logs.discard(output)
  expect([await logs.list('srv-a'), live]).toEqual([[], []])
})

test('output that an engine could not keep is told to be missing', async () => {
  const { logs } = open({ pollMs: 10_000 })
  logs.follow(output)
  write('one\ntwo\n')
  machine.outputs.rotate(output, 4)
  await logs.close(output)
  expect(messages()).toEqual(['app: Some output before this is missing: it was gone before it could be stored.', 'app: two'])
})

test('what could not be read because the answer was lost is read later, once', async () => {
  const { logs } = open()
  machine.faults.inject('readOutput', { kind: 'lost' }, 3)
  logs.follow(output)
  write('one\n')
  await until(() => live.length > 0)
  expect(errors).toHaveLength(3)
  write('two\n')
  await until(() => live.length > 1)
  expect(messages()).toEqual(['app: one', 'app: two'])
})

test('an engine that does not answer keeps no remark back', async () => {
  const { logs } = open({ pollMs: 10_000, longestWaitMs: 1 })
  logs.follow(output)
  write('one\n')
  machine.faults.partition()
  logs.remark(output, 'over')
  await logs.settled()
  expect(messages()).toEqual(['platform: over'])
  machine.faults.heal()
  await logs.close(output)
  expect(messages()).toEqual(['platform: over', 'app: one'])
})

test('each line comes once and in order, whoever else reads beside the poll, and whenever the control plane is another', async () => {
  const random = randomFrom(7)
  const total = 3000
  let written = 0
  let { logs, collector } = open({ pollMs: 1 })
  logs.follow(output)
  while (written < total) {
    write(Array.from({ length: 1 + random(50) }, () => `line ${written++}\n`).join(''))
    const act = random(6)
    if (act === 0) machine.faults.inject('readOutput', { kind: 'slow', delayMs: random(4) })
    if (act === 1) machine.faults.inject('readOutput', { kind: 'lost' })
    if (act === 2) logs.remark(output, 'remark')
    if (act === 3) await Promise.all([collector.flush('srv-a/srv-a-1'), collector.flush('srv-a/srv-a-1')]).catch(() => {})
    if (act === 4) await Bun.sleep(random(3))
    if (act !== 5) continue
    await logs.settled()
    await collector.stop()
    ;({ logs, collector } = open({ pollMs: 1 }))
    logs.follow(output)
  }
  await logs.close(output).catch(() => logs.close(output))
  const lines = live.filter(({ type }) => type === 'app').map(({ message }) => message)
  expect(lines.findIndex((message, index) => message !== `line ${index}`)).toBe(-1)
  expect(lines).toHaveLength(written)
})
