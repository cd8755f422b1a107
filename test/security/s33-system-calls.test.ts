import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TryResult } from '../../server/boot/doctor/red-team/attempt.ts'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import type { ProcessEngine, Sandbox } from '../../server/engines/process/spec.ts'
import { makeWorld, runToEnd, type World } from '../engines/process/support/world.ts'

const label = `cpd-test-calls-${process.pid}`
let world: World
let engine: ProcessEngine

beforeAll(async () => {
  world = makeWorld()
  engine = await createProcessEngine({ stateDir: world.stateDir, label })
})
afterAll(async () => {
  await engine.close()
  world.dispose()
})

async function run(command: string, rights: Partial<Sandbox> = {}): Promise<string> {
  const sandbox = { ...world.service('srv-one'), readOnlyBinds: [dirname(process.execPath)], ...rights }
  const limits = { cpu: 2, memoryBytes: 512 * 1024 * 1024, pids: 100 }
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, BUN_BE_BUN: '1' }
  const task = world.task(command, { sandbox, limits, env })
  await runToEnd(engine, task, 120_000)
  return world.output(task)
}

test('S33: what no app needs of the kernel is refused, and the doctor says so', async () => {
  const entry = resolve('test/security/system-calls-child.ts')
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'bun' })
  const code = join(world.dir, 'srv-one', 'release')
  world.service('srv-one')
  writeFileSync(join(code, 'tries.js'), (await outputs[0]?.text()) ?? '', { mode: 0o644 })
  const tries = JSON.parse((await run(`exec ${process.execPath} tries.js`)).trim().split('\n').at(-1) ?? '') as TryResult[]
  expect(tries.map(({ id, succeeded }) => ({ id, succeeded }))).toEqual([
    { id: 'forbidden-calls', succeeded: [] },
    { id: 'user-namespaces', succeeded: [] },
  ])
  const guarantees = await engine.guarantees()
  expect(guarantees.find(({ id }) => id === 'filtered-calls')).toMatchObject({ holds: true })
})

test('S33: a service that may has user namespaces, in which it mounts nothing all the same', async () => {
  const inNamespace =
    'unshare --user --map-root-user sh -c "id -u; unshare --mount --propagation unchanged mount -t tmpfs x /mnt; echo \\$?"'
  expect(await run(inNamespace, { allowsUserNamespaces: true })).toMatch(/^0\n(?:.|\n)*permission denied(?:.|\n)*\n32\n$/i)
  expect(await run('unshare --user true; echo $?')).toMatch(/Operation not permitted\n1\n$/)
})
