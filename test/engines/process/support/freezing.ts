import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ProcessEngine, ProcessSpec } from '../../../../server/engines/process/spec.ts'
import type { EngineFactory } from './processes.ts'
import { makeWorld, until, type World } from './world.ts'

/** What every engine must do when it freezes instances. */
export function describeFreezing(name: string, factory: EngineFactory): void {
  describe(name, () => freezingContract(factory))
}

function freezingContract(factory: EngineFactory): void {
  let world: World
  let engine: ProcessEngine

  beforeEach(async () => {
    world = makeWorld()
    engine = await factory(world)
  })

  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  describe('freeze', () => {
    const counting = 'n=0; while :; do n=$((n+1)); [ $((n % 1000)) -ne 0 ] || echo $n >count; done'
    const busy = () => world.instance(`(while :; do :; done) & setsid sh -c 'while :; do :; done' & ${counting}`)
    const cpuSeconds = async (spec: ProcessSpec) => (await engine.usage(spec.instanceId))?.cpuSeconds ?? Number.NaN
    const startBusy = async () => {
      const spec = busy()
      await engine.start(spec)
      await until('it counts', () => existsSync(join(spec.cwd, 'count')))
      return spec
    }
    const expectNoWork = async (spec: ProcessSpec) => {
      const before = await cpuSeconds(spec)
      await Bun.sleep(300)
      expect(await cpuSeconds(spec)).toBe(before)
    }

    test('takes all processor time away until it is thawed', async () => {
      const spec = await startBusy()
      await Promise.all([engine.freeze(spec.instanceId), engine.freeze(spec.instanceId)])
      await expectNoWork(spec)
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
      await engine.thaw(spec.instanceId)
      await engine.thaw(spec.instanceId)
      const before = await cpuSeconds(spec)
      await until('it works again', async () => (await cpuSeconds(spec)) > before)
    })

    test('lasts beyond the control plane', async () => {
      const spec = await startBusy()
      await engine.freeze(spec.instanceId)
      await engine.close()
      engine = await factory(world)
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
      await expectNoWork(spec)
      await engine.thaw(spec.instanceId)
      const before = await cpuSeconds(spec)
      await until('it works again', async () => (await cpuSeconds(spec)) > before)
    })

    test('does not keep a command from ending in its own way when it is stopped', async () => {
      const spec = world.instance("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done")
      await engine.start(spec)
      await until('it is up', () => world.output(spec) === 'up\n')
      await engine.freeze(spec.instanceId)
      await engine.stop(spec.instanceId, { graceMs: 10_000 })
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: 0 })
    })

    test('does not keep a process from being killed', async () => {
      const spec = await startBusy()
      await engine.freeze(spec.instanceId)
      await engine.stop(spec.instanceId, { graceMs: 0 })
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
      const other = await startBusy()
      await engine.freeze(other.instanceId)
      await engine.removeOwner('srv-one')
      expect(await engine.list()).toEqual([])
    })
  })
}
