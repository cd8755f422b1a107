import { lchownSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import type { ProcessEngine } from '../../../server/engines/process/spec.ts'
import { endOf, makeWorld, type World } from './support/world.ts'

let world: World
let engine: ProcessEngine
beforeEach(async () => {
  world = makeWorld()
  engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-test-cwd-${process.pid}` })
})
afterEach(async () => {
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  await engine.close()
  world.dispose()
})

test('a link to the parent outside of the sandbox in the place of the working directory leads nowhere', async () => {
  const sandbox = world.service('srv-one')
  const dir = join(world.dir, 'srv-one', 'release')
  const cwd = join(dir, 'sub')
  symlinkSync('/proc/1/root', cwd)
  lchownSync(cwd, sandbox.uid, sandbox.gid)
  const spec = world.instance('ls -d ./*; echo ran', { cwd, sandbox: { ...sandbox, writableBinds: [dir] } })
  await engine.start(spec)
  await endOf(engine, spec.instanceId)
  expect(world.output(spec)).not.toContain('./proc')
  expect(world.output(spec)).not.toContain('ran')
})
