import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../../server/engines/process/engine.ts'
import { awaitedIn } from '../../../../server/engines/process/records/freezer.ts'
import type { ProcessEngine } from '../../../../server/engines/process/spec.ts'
import { makeWorld, type World } from '../support/world.ts'

test('a stopped child goes on when its parent waits for it in the kernel', () => {
  const stat = { startTicks: 1, groupId: 1, sessionId: 1, cpuTicks: 0, residentPages: 0 }
  const [waiting, stopped] = [
    { ...stat, pid: 10, parentPid: 1, state: 'D' },
    { ...stat, pid: 20, parentPid: 1, state: 'T' },
  ]
  const childOf = (parentPid: number, pid: number, state: string) => ({ ...stat, pid, parentPid, state })
  const children = [childOf(10, 11, 'T'), childOf(10, 12, 'Z'), childOf(10, 13, 'S'), childOf(20, 21, 'T')]
  expect(awaitedIn([waiting, stopped, ...children]).map(({ pid }) => pid)).toEqual([11])
})

describe('without control groups', () => {
  let world: World
  let engine: ProcessEngine

  beforeEach(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label: 'cpd-none', cgroupRoot: world.dir, namespaces: 'none' })
  })
  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  test('a shell that starts one program after the other is frozen at any moment', async () => {
    const spec = world.instance('while :; do sleep 0.001; done')
    await engine.start(spec)
    for (let round = 0; round < 40; round++) {
      await engine.freeze(spec.instanceId)
      await engine.thaw(spec.instanceId)
      await Bun.sleep(round % 7)
    }
    expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
  })
})
