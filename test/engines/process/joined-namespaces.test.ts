import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import type { ProcessEngine } from '../../../server/engines/process/spec.ts'
import { makeWorld, until, type World } from './support/world.ts'

describe('a terminal in an instance that has gone into namespaces of its own', () => {
  let world: World
  let engine: ProcessEngine

  beforeEach(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-test-joined-${process.pid}` })
  })

  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  test('is refused, and runs nothing there', async () => {
    const sandbox = { ...world.service('srv-one'), allowsUserNamespaces: true as const }
    const away = 'unshare --user --map-root-user --mount --propagation unchanged'
    const spec = world.instance(`exec ${away} sh -c 'echo >/tmp/ready; exec sleep 1000'`, { sandbox })
    await engine.start(spec)
    await until('it is away', () => existsSync(join(spec.sandbox.tmpDir, 'ready')))
    const terminal = { ...world.terminal('true'), onOutput: () => {} }
    await expect(engine.openTerminal({ ...terminal, joins: spec.instanceId })).rejects.toMatchObject({ code: 'conflict' })
    const own = await engine.openTerminal(terminal)
    expect(await own.ended).toMatchObject({ exitCode: 0 })
  })
})
