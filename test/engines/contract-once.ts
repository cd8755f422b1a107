import { describe, expect, test } from 'vitest'
import type { Engine, ExitedState } from '../../server/engines/port/port.ts'
import type { InstanceSpec } from '../../server/engines/port/workload.ts'
import { type ContractWorld, until } from './world.ts'

export interface ContractPlace {
  engine(): Engine
  /** Closes the engine, and opens another on the same world. */
  restart(): Promise<void>
  world(): ContractWorld
  endOf(id: string): Promise<ExitedState>
}

/** What every engine promises of what runs to its end: builds and commands rely on it that go on without their control plane. */
export function describeRunsOnce({ engine, restart, world, endOf }: ContractPlace): void {
  const run = async (spec: InstanceSpec) => {
    await engine().start(spec)
    return endOf(spec.instanceId)
  }
  const isRunning = async ({ instanceId }: InstanceSpec) => (await engine().inspect(instanceId))?.status === 'running'

  describe('what runs once', () => {
    test('runs to its end, leaves its output, and is told and known until it is removed', async () => {
      const told: unknown[] = []
      engine().onExit((id, state) => told.push([id, state.exitCode]))
      const task = world().task([{ print: 'built' }, { exit: 4 }])
      expect(await run(task)).toMatchObject({ exitCode: 4, signal: null })
      expect(world().output(task)).toBe('built\n')
      await until('it was told', () => told.length > 0)
      expect(told).toEqual([[task.instanceId, 4]])
      expect(await engine().list()).toEqual([{ instanceId: task.instanceId, ownerId: 'srv-one' }])
      await engine().remove(task.instanceId)
      expect(await engine().list()).toEqual([])
    })

    test('is told with what it used, where the engine can tell', async () => {
      const told: unknown[] = []
      engine().onExit((_, { used }) => told.push(used))
      const { used } = await run(world().task([{ use: { cpuSeconds: 0.05, megabytes: 20 } }, { exit: 0 }]))
      await until('it was told', () => told.length > 0)
      expect(told).toEqual([used])
      if (used === undefined) return
      expect(used.cpuSeconds).toBeGreaterThanOrEqual(0.05)
      expect(used.peakMemoryBytes).toBeGreaterThanOrEqual(20_000_000)
    })

    test('is not run a second time under its id until it is removed', async () => {
      const task = world().task([{ print: 'ran' }, { exit: 0 }])
      await Promise.all([engine().start(task), engine().start(task)])
      await endOf(task.instanceId)
      await expect(engine().start(task)).rejects.toMatchObject({ code: 'conflict' })
      await restart()
      await expect(engine().start(task)).rejects.toMatchObject({ code: 'conflict' })
      expect(world().output(task)).toBe('ran\n')
      await engine().remove(task.instanceId)
      await run(task)
      expect(world().output(task)).toBe('ran\nran\n')
    })

    test('ends when it is stopped', async () => {
      const task = world().task(['deaf', { print: 'up' }, 'serve'])
      await engine().start(task)
      await until('it runs', () => world().output(task) === 'up\n')
      await engine().stop(task.instanceId, { graceMs: 0 })
      expect(await engine().inspect(task.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
    })

    test('outlives a control plane, and is found running by the next, which is told how it ends', async () => {
      const task = world().task(['polite', { print: 'up' }, 'serve'])
      await engine().start(task)
      await until('it runs', () => world().output(task) === 'up\n')
      await restart()
      expect(await isRunning(task)).toBe(true)
      expect(await engine().list()).toEqual([{ instanceId: task.instanceId, ownerId: 'srv-one' }])
      const told = new Promise((resolve) => engine().onExit((id, state) => resolve([id, state.exitCode])))
      await engine().stop(task.instanceId, { graceMs: 30_000 })
      expect(await told).toEqual([task.instanceId, 0])
    })

    test('is found with its exit code when it has ended while there was no engine', async () => {
      const task = world().task([{ waitMs: 200 }, { print: 'over' }, { exit: 9 }])
      await engine().start(task)
      await engine().close()
      await until('it is over', () => world().output(task) === 'over\n')
      await restart()
      expect(await endOf(task.instanceId)).toMatchObject({ exitCode: 9 })
    })
  })
}
