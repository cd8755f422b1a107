import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import type { ProcessEngine, ProcessSpec } from '../../server/engines/process/spec.ts'
import { makeWorld, until, type World } from '../engines/process/support/world.ts'

const MOST = 60
const ASKED = 3 * MOST

const server = `exec node -e "require('net').createServer((s) => s.on('error', () => {})).listen(10000, '0.0.0.0')"`

/** Opens connections one after the other and keeps them; a line tells how many there are and why there are no more. */
const opener = (count: number) =>
  `exec node -e "
    const net = require('net')
    const kept = []
    const open = () => new Promise((done) => {
      const socket = net.connect({ host: 'target', port: 10000, family: 4 })
      socket.on('connect', () => { kept.push(socket); done('') }).on('error', (error) => done(error.code))
    })
    ;(async () => {
      let refusal = ''
      while (kept.length < ${count} && refusal === '') refusal = await open()
      console.log('has ' + kept.length + ' ' + refusal)
      for (const socket of kept.splice(0)) socket.destroy()
      for (let again = 'none'; again !== ''; await new Promise((go) => setTimeout(go, 50))) again = await open()
      console.log('again')
    })()
  "`

const isRoot = process.getuid?.() === 0

describe.runIf(isRoot)('instances with networks of their own', () => {
  let world: World
  let engine: ProcessEngine

  beforeAll(async () => {
    world = makeWorld()
    engine = await createProcessEngine({
      stateDir: world.stateDir,
      label: `cpd-test-s29-${process.pid}`,
      network: { connectionsPerInstance: MOST },
    })
  })
  afterAll(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  async function run(ownerId: string, command: string): Promise<ProcessSpec> {
    const sandbox = { ...world.service(ownerId), networkId: 'net-a' }
    const limits = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 60 }
    const spec = world.instance(command, { sandbox, port: 10_000, limits })
    await engine.start(spec)
    return spec
  }

  test('S29: an instance has its share of the connections of the machine, and its neighbours have theirs', {
    timeout: 120_000,
  }, async () => {
    const target = await run('srv-target', server)
    await engine.link([{ ownerId: 'srv-target', number: 1, networkId: 'net-a', names: ['target'], instanceIds: [target.instanceId] }])
    const hasLine = (spec: ProcessSpec, line: RegExp) => until(`${line}`, () => line.test(world.output(spec)), 60_000)

    const first = await run('srv-probe', opener(1))
    await hasLine(first, /again/)
    const greedy = await run('srv-greedy', opener(ASKED))
    await hasLine(greedy, /has \d+ /)
    expect(world.output(greedy)).toContain(`has ${MOST} ECONNREFUSED`)
    const modest = await run('srv-modest', opener(MOST))
    await hasLine(modest, /has \d+ /)
    expect(world.output(modest)).toContain(`has ${MOST} \n`)
    await hasLine(greedy, /again/)
  })
})
