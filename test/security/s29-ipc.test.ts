import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import type { ProcessEngine, ProcessSpec } from '../../server/engines/process/spec.ts'
import { makeWorld, until, type World } from '../engines/process/support/world.ts'

const isRoot = process.getuid?.() === 0
const name = `cpd-test-s29-${process.pid}`

/** Connects to a socket with an abstract name and prints what comes of it. */
const reaching = `node -e "require('net').connect('\\\\0${name}').on('connect', () => { console.log('socket reached'); process.exit() }).on('error', (e) => console.log('socket ' + e.code)).on('close', () => process.exit())"`
const offering = `node -e "require('net').createServer().listen('\\\\0${name}', () => console.log('offered'))"`

let world: World
let engine: ProcessEngine

beforeAll(async () => {
  world = makeWorld()
  engine = await createProcessEngine({ stateDir: world.stateDir, label: name })
})
afterAll(async () => {
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  await engine.close()
  world.dispose()
})

async function run(ownerId: string, command: string): Promise<ProcessSpec> {
  const limits = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 60 }
  const spec = world.instance(command, { sandbox: world.service(ownerId), limits })
  await engine.start(spec)
  return spec
}

const shows = (spec: ProcessSpec, line: string) => until(line, () => world.output(spec).includes(line), 60_000)

describe.runIf(isRoot)('services with namespaces of their own', () => {
  test('S29: share neither System V objects nor sockets with abstract names', { timeout: 120_000 }, async () => {
    const owner = await run('srv-owner', `ipcmk -M 4096 -Q -S 1 -p 0666 && ipcs && ${reaching} && ${offering}`)
    await shows(owner, 'offered')
    expect(world.output(owner)).toMatch(/0x[0-9a-f]{8} \d+ +\S+ +666 +4096/)
    expect(world.output(owner)).toContain('socket ECONNREFUSED')
    const stranger = await run('srv-stranger', `ipcs; ${reaching}; echo over`)
    await shows(stranger, 'over')
    expect(world.output(stranger)).not.toMatch(/^0x/m)
    expect(world.output(stranger)).toContain('socket ECONNREFUSED')
    // What is refused to a stranger is there for its owner.
    const own = await run('srv-own', `${offering} & until ${reaching} | tee /tmp/seen && grep reached /tmp/seen; do :; done; wait`)
    await shows(own, 'socket reached')
  })
})
