import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Guarantee } from '../../../../server/engines/port/port.ts'
import type { ProcessEngine, ProcessSpec } from '../../../../server/engines/process/spec.ts'
import { eachInAWorld } from '../../opened.ts'
import { describeFreezing } from './freezing.ts'
import { describeTerminals } from './terminals.ts'
import { endOf, makeWorld, pidsWith, runToEnd, until, type World } from './world.ts'

/** Opens an engine on a world; the second time on the same world stands for a restarted control plane. */
export type EngineFactory = (world: World) => Promise<ProcessEngine>

/** What the process engine does beyond the contract: real shells, processes, folders and limits. */
export function describeProcesses(name: string, factory: EngineFactory): void {
  describe(name, () => processContract(factory))
  describeFreezing(name, factory)
  describeTerminals(name, factory)
}

function processContract(factory: EngineFactory): void {
  let world: World
  let engine: ProcessEngine
  const open = eachInAWorld({
    makeWorld,
    openOn: factory,
    use: (...given) => {
      ;[world, engine] = given
    },
  })
  /** A sleep that no other test uses, to look for afterwards. */
  const marker = () => `9${Math.floor(Math.random() * 1e9)}.5`

  /** Runs an instance to its end and returns how it ended. */
  const run = async (spec: ProcessSpec) => {
    await engine.start(spec)
    return endOf(engine, spec.instanceId)
  }

  /** A guarantee holds, or the engine says why not: then there is nothing to try. */
  const promises = async (id: Guarantee['id']) => {
    const found = (await engine.guarantees()).find((one) => one.id === id)
    if (found?.holds === false) expect(found.reason).toBeTruthy()
    return found?.holds ?? false
  }

  describe('start', () => {
    test('runs the command with exactly its environment, in its folder', async () => {
      const env = { PATH: '/usr/bin:/bin', name: 'a', command: 'b', QUOTES: `'"$(id)\`\\`, LINES: 'one\ntwo', EMPTY: '' }
      const spec = world.instance('exec env -0', { env })
      await run(spec)
      const seen = world.output(spec).split('\0').filter(Boolean).sort()
      const wanted = Object.entries({ ...env, PWD: spec.cwd }).map(([key, value]) => `${key}=${value}`)
      expect(seen).toEqual(wanted.sort())
    })

    test('appends both output streams to the file', async () => {
      const first = world.instance('echo one; echo two >&2')
      await run(first)
      await run(world.instance('echo three', { outputPath: first.outputPath }))
      expect(world.output(first)).toBe('one\ntwo\nthree\n')
    })

    test('says why it cannot start, and leaves nothing behind', async () => {
      const spec = world.instance('true', { cwd: join(world.dir, 'missing') })
      await expect(engine.start(spec)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('missing') })
      expect(await engine.inspect(spec.instanceId)).toBeUndefined()
      expect(await engine.list()).toEqual([])
    })

    test('gives an empty standard input', async () => {
      const spec = world.instance('wc -c')
      await run(spec)
      expect(world.output(spec).trim()).toBe('0')
    })
  })

  describe('the end of an instance', () => {
    test('takes along what the command left in the background', async () => {
      const nap = marker()
      await run(world.instance(`sleep ${nap} & (sleep ${nap} &); exit 0`))
      expect(pidsWith(nap)).toEqual([])
    })

    test('takes along what made itself a daemon', async () => {
      if (!(await promises('no-escape'))) return
      const nap = marker()
      await run(world.instance(`setsid sh -c 'setsid sleep ${nap} & sleep ${nap} &'; exit 0`))
      expect(pidsWith(nap)).toEqual([])
    })
  })

  describe('stop', () => {
    test('lets the command end in its own way', async () => {
      const spec = world.instance("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done")
      await engine.start(spec)
      await until('it is up', () => world.output(spec) === 'up\n')
      await engine.stop(spec.instanceId, { graceMs: 10_000 })
      expect(world.output(spec)).toMatch(/bye\n$/)
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: 0 })
    })

    test('waits for children that outlive the command', async () => {
      const spec = world.instance(`sh -c 'trap "sleep 0.3; echo drained; exit" TERM; echo up; while :; do sleep 0.05; done' & wait`)
      await engine.start(spec)
      await until('it is up', () => world.output(spec) === 'up\n')
      await engine.stop(spec.instanceId, { graceMs: 10_000 })
      expect(world.output(spec)).toMatch(/drained\n$/)
    })

    test('kills what ignores SIGTERM', async () => {
      const nap = marker()
      const spec = world.instance(`trap '' TERM; echo up; while :; do sleep ${nap}; done`)
      await engine.start(spec)
      await until('it is up', () => world.output(spec) === 'up\n')
      await engine.stop(spec.instanceId, { graceMs: 100 })
      expect(pidsWith(nap)).toEqual([])
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
    })

    test('ends a process that has made itself a daemon', async () => {
      if (!(await promises('no-escape'))) return
      const nap = marker()
      const spec = world.instance(`setsid sh -c 'setsid sleep ${nap} & exit' & sleep ${nap}`)
      await engine.start(spec)
      await until('both sleep', () => pidsWith(`sleep\0${nap}`).length >= 2)
      await engine.stop(spec.instanceId, { graceMs: 50 })
      expect(pidsWith(nap)).toEqual([])
    })
  })

  describe('remove', () => {
    test('of a service ends and forgets all of it and nothing else', async () => {
      const [nap, other] = [marker(), marker()]
      const stays = world.instance(`exec sleep ${other}`, { sandbox: world.service('srv-two') })
      for (const spec of [world.instance(`sleep ${nap}`), world.instance(`sleep ${nap}; true`), stays]) await engine.start(spec)
      await engine.removeOwner('srv-one')
      expect(pidsWith(nap)).toEqual([])
      expect(await engine.list()).toEqual([{ instanceId: stays.instanceId, ownerId: 'srv-two' }])
      expect(pidsWith(other)).not.toEqual([])
    })
  })

  describe('limits', () => {
    test('a memory hog is killed and told as such', async () => {
      if (!(await promises('memory-limit'))) return
      expect(await run(world.instance('exec tail /dev/zero'))).toMatchObject({ signal: 'SIGKILL', why: 'out_of_memory' })
    })

    test('forking without end stays within the limit and can be stopped', async () => {
      if (!(await promises('process-limit'))) return
      const nap = marker()
      const spec = world.instance(`f() { sleep ${nap} & f | f & }; f; while :; do sleep ${nap}; done`, {
        limits: { cpu: 0.5, memoryBytes: 64e6, pids: 20 },
      })
      await engine.start(spec)
      await until('it has met the limit', () => world.output(spec).includes('fork'))
      expect(pidsWith(nap).length).toBeLessThanOrEqual(24)
      await engine.stop(spec.instanceId, { graceMs: 0 })
      expect(pidsWith(nap)).toEqual([])
    })

    test('a busy loop gets no more processor time than its plan', async () => {
      if (!(await promises('cpu-limit'))) return
      const spec = world.instance('while :; do :; done', { limits: { cpu: 0.1, memoryBytes: 64e6, pids: 20 } })
      await engine.start(spec)
      const before = await engine.usage(spec.instanceId)
      await Bun.sleep(1000)
      const after = await engine.usage(spec.instanceId)
      const used = (after?.cpuSeconds ?? 0) - (before?.cpuSeconds ?? 0)
      expect(used).toBeGreaterThan(0)
      expect(used).toBeLessThan(0.4)
    })

    test('usage tells memory and is undefined once the instance has ended', async () => {
      const spec = world.instance('exec sleep 1000')
      await engine.start(spec)
      await until('it uses memory', async () => ((await engine.usage(spec.instanceId))?.memoryBytes ?? 0) > 10_000)
      await engine.stop(spec.instanceId, { graceMs: 1000 })
      expect(await engine.usage(spec.instanceId)).toBeUndefined()
      expect(await engine.usage('srv-none-1')).toBeUndefined()
    })
  })

  describe('what runs once', () => {
    test('runs to its end and leaves its output', async () => {
      const task = world.task('echo built >result; cat result; exit 4')
      expect(await runToEnd(engine, task)).toMatchObject({ status: 'exited', exitCode: 4, signal: null, at: expect.any(String) })
      expect(world.output(task)).toBe('built\n')
      expect(existsSync(join(task.cwd, 'result'))).toBe(true)
      expect(await engine.list()).toEqual([])
    })

    test('ends with all its children when it is stopped', async () => {
      const nap = marker()
      const task = world.task(`setsid sleep ${nap} & sleep ${nap} & (sleep ${nap} & wait) & sleep ${nap}`)
      await engine.start(task)
      await until('it runs', () => pidsWith(`sleep\0${nap}`).length === 4)
      await engine.stop(task.instanceId, { graceMs: 0 })
      expect(await engine.inspect(task.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
      expect(pidsWith(nap)).toEqual([])
    })

    test('that wants too much memory is told as such', async () => {
      if (!(await promises('memory-limit'))) return
      expect(await runToEnd(engine, world.task('tail /dev/zero; exit 1'))).toMatchObject({ why: 'out_of_memory' })
    })
  })

  describe('a new engine on the same state', () => {
    test('finds what runs and is told how it ends', async () => {
      const spec = world.instance('while [ ! -e end ]; do sleep 0.05; done; exit 42')
      await engine.start(spec)
      const before = await engine.inspect(spec.instanceId)
      await engine.close()
      engine = await open()
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ ...before, startedAt: expect.any(String) })
      const told = new Promise((resolve) => engine.onExit((id, state) => resolve([id, state.exitCode])))
      await Bun.write(join(spec.cwd, 'end'), '')
      expect(await told).toEqual([spec.instanceId, 42])
    })

    test('knows how an instance ended while there was no engine', async () => {
      const spec = world.instance('sleep 0.2; exit 9')
      await engine.start(spec)
      await engine.close()
      await Bun.sleep(600)
      engine = await open()
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: 9 })
    })

    test('can stop and remove what it adopted', async () => {
      const nap = marker()
      const spec = world.instance(`sleep ${nap}`)
      await engine.start(spec)
      await engine.close()
      engine = await open()
      await engine.start(spec)
      await engine.stop(spec.instanceId, { graceMs: 1000 })
      await engine.remove(spec.instanceId)
      expect(pidsWith(nap)).toEqual([])
    })
  })

  describe('close', () => {
    test('leaves everything running', async () => {
      const [nap, build] = [marker(), marker()]
      await engine.start(world.instance(`exec sleep ${nap}`))
      await engine.start(world.task(`exec sleep ${build}`))
      await until('the task runs', () => pidsWith(build).length > 0)
      await engine.close()
      engine = await open()
      expect(pidsWith(build)).not.toEqual([])
      expect(pidsWith(nap)).not.toEqual([])
    })
  })
}
