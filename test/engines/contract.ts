import { beforeEach, describe, expect, test } from 'vitest'
import type { Engine, ExitedState, OpenTerminal } from '../../server/engines/port/port.ts'
import type { InstanceSpec, View } from '../../server/engines/port/workload.ts'
import { describeRunsOnce } from './contract-once.ts'
import { eachInAWorld } from './opened.ts'
import { type ContractWorld, until } from './world.ts'

/** What every engine promises, whatever it runs workloads with. */
export function describeEngine(name: string, makeWorld: () => ContractWorld): void {
  describe(name, () => engineContract(makeWorld))
}

function engineContract(makeWorld: () => ContractWorld): void {
  let world: ContractWorld
  let engine: Engine
  const open = eachInAWorld({
    makeWorld,
    openOn: (one) => one.open(),
    use: (...given) => {
      ;[world, engine] = given
    },
  })

  const endOf = async (id: string): Promise<ExitedState> => {
    let end: ExitedState | undefined
    await until(`${id} has ended`, async () => {
      const state = await engine.inspect(id)
      if (state?.status === 'exited') end = state
      return end !== undefined
    })
    if (end === undefined) throw new Error('unreachable')
    return end
  }
  const run = async (spec: InstanceSpec) => {
    await engine.start(spec)
    return endOf(spec.instanceId)
  }
  const startServing = async (...acts: Parameters<ContractWorld['instance']>[0]) => {
    const spec = world.instance([...acts, { print: 'up' }, 'serve'])
    await engine.start(spec)
    await until('it is up', () => world.output(spec).includes('up\n'))
    return spec
  }
  const isRunning = async ({ instanceId }: InstanceSpec) => (await engine.inspect(instanceId))?.status === 'running'

  describe('start', () => {
    test('runs a program with the whole of its environment', async () => {
      const env = { PATH: '/usr/bin:/bin', name: 'a', command: 'b', QUOTES: `'"$(id)\`\\`, LINES: 'one\ntwo', EMPTY: '' }
      const spec = world.instance(['printenv'], { env: () => env })
      await run(spec)
      const seen = world.output(spec).split('\0')
      expect(seen).toEqual(expect.arrayContaining(Object.entries(env).map(([key, value]) => `${key}=${value}`)))
      expect(seen.filter((line) => !/^(PATH|name|command|QUOTES|LINES|EMPTY|PWD)=|^$/.test(line))).toEqual([])
    })

    test('tells a program where those of its stack are found', async () => {
      const stack = { kind: 'host' as const, folders: [], searchPath: ['own', '/usr/local/own'] }
      const spec = world.instance(['printenv'], { stack, env: ({ root, searchPath }) => ({ PATH: searchPath, ROOT: root }) })
      await run(spec)
      const seen = new Map(
        world
          .output(spec)
          .split('\0')
          .map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
      )
      expect(seen.get('PATH')?.split(':')).toEqual(expect.arrayContaining([`${seen.get('ROOT')}/own`, '/usr/local/own', '/bin']))
    })

    test('tells a program where others are that it may run', async () => {
      const files = { programs: 'server-2', beside: ['server-1'] }
      const env = ({ root, beside }: View) => ({ PATH: '/usr/bin:/bin', ROOT: root, BESIDE: beside?.['server-1'] ?? 'nowhere' })
      const spec = world.instance(['printenv'], { files, env })
      expect((await run(spec)).exitCode).toBe(0)
      const seen = world.output(spec).split('\0')
      expect(seen).toContainEqual(expect.stringMatching(/^BESIDE=.*\/server-1$/))
      expect(seen).not.toContainEqual(expect.stringMatching(/^ROOT=.*\/server-1$/))
    })

    test('does nothing for an instance that runs already', async () => {
      const spec = world.instance([{ print: 'started' }, 'serve'])
      await Promise.all([engine.start(spec), engine.start(spec)])
      await engine.start(spec)
      await until('it has started', () => world.output(spec) !== '')
      expect(world.output(spec)).toBe('started\n')
      expect(await engine.list()).toEqual([{ instanceId: spec.instanceId, ownerId: 'srv-one' }])
    })

    test('tells a program the port at which it is reached, which is its alone', async () => {
      const told = { env: ({ port }: View) => ({ PATH: '/usr/bin:/bin', PORT: String(port) }), listens: { preferredPort: 10_000 } }
      const specs = [1, 2].map(() => world.instance(['printenv', 'serve'], told))
      const endpoints = await Promise.all(
        specs.map(async (spec) => {
          await engine.start(spec)
          const state = await engine.inspect(spec.instanceId)
          const { host, port } = (state?.status === 'running' && state.endpoint) || {}
          await until('it was told', () => world.output(spec).includes(`PORT=${port}\0`))
          return `${host}:${port}`
        }),
      )
      expect(new Set(endpoints).size).toBe(2)
    })

    test('gives what listens nowhere no place where it is reached, and tells it none', async () => {
      const { listens, ...spec } = world.instance(['serve'])
      const views: View[] = []
      const env = (view: View) => {
        views.push(view)
        return spec.env(view)
      }
      await engine.start({ ...spec, env })
      expect(await engine.inspect(spec.instanceId)).toEqual({ status: 'running', startedAt: expect.any(String) })
      expect(views).toEqual([expect.not.objectContaining({ port: expect.anything() })])
    })

    test('tells the ports that it listens on, and of loopback only where connections can be led there', async () => {
      const env = ({ port }: View) => ({ PATH: '/usr/bin:/bin', PORT: String(port) })
      const spec = world.instance([{ answer: 'here' }, 'serve'], { env })
      await engine.start(spec)
      const state = await engine.inspect(spec.instanceId)
      const port = state?.status === 'running' ? state.endpoint?.port : undefined
      await until('it listens', async () => (await engine.listeners(spec.instanceId)).some((one) => one.port === port))
      const reaches = (await engine.listeners(spec.instanceId)).map(({ reach }) => reach)
      if (engine.exposeLoopback === undefined) expect(reaches).not.toContain('loopback')
    })

    test('refuses the id of an instance that has ended', async () => {
      const spec = world.instance([{ exit: 0 }])
      await run(spec)
      await expect(engine.start(spec)).rejects.toMatchObject({ code: 'conflict' })
    })

    test('refuses names of variables that cannot be handed over, and leaves nothing behind', async () => {
      const spec = world.instance(['serve'], { env: () => ({ 'A;id': '1' }) })
      await expect(engine.start(spec)).rejects.toMatchObject({ code: 'validation_failed' })
      expect(await engine.inspect(spec.instanceId)).toBeUndefined()
      expect(await engine.list()).toEqual([])
    })
  })

  describe('the end of an instance', () => {
    test.each([0, 7, 137])('is told with its exit code %i', async (exit) => {
      expect(await run(world.instance([{ exit }]))).toEqual({ status: 'exited', exitCode: exit, signal: null, at: expect.any(String) })
    })

    test('is told with its signal', async () => {
      expect(await run(world.instance([{ die: 'SIGKILL' }]))).toEqual({
        status: 'exited',
        exitCode: null,
        signal: 'SIGKILL',
        at: expect.any(String),
      })
    })

    test('is told to each listener once', async () => {
      const told: unknown[] = []
      engine.onExit((id, state) => told.push([id, state.exitCode]))
      const unsubscribe = engine.onExit(() => told.push('never'))
      unsubscribe()
      const first = world.instance([{ exit: 3 }])
      await run(first)
      await until('it was told', () => told.length > 0)
      // What is told twice is told before a later end.
      const second = world.instance([{ exit: 4 }])
      await run(second)
      await until('the second was told', () => told.length > 1)
      expect(told).toEqual([
        [first.instanceId, 3],
        [second.instanceId, 4],
      ])
    })

    test('is undefined for an id never heard of', async () => {
      expect(await engine.inspect('srv-none-1')).toBeUndefined()
    })
  })

  describe('stop', () => {
    test('lets a program end in its own way', async () => {
      const spec = await startServing('polite')
      await engine.stop(spec.instanceId, { graceMs: 30_000 })
      expect(world.output(spec)).toMatch(/bye\n$/)
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: 0 })
    })

    test('kills what does not end', async () => {
      const spec = await startServing('deaf')
      await engine.stop(spec.instanceId, { graceMs: 50 })
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
    })

    test('can be repeated, and asked for what is not there', async () => {
      const { instanceId } = await startServing()
      await Promise.all([engine.stop(instanceId, { graceMs: 1000 }), engine.stop(instanceId, { graceMs: 1000 })])
      await engine.stop(instanceId, { graceMs: 1000 })
      await engine.stop('srv-none-1', { graceMs: 1000 })
    })
  })

  describe('remove', () => {
    test('is refused while the instance runs', async () => {
      const { instanceId } = await startServing()
      await expect(engine.remove(instanceId)).rejects.toMatchObject({ code: 'conflict' })
    })

    test('forgets the instance, can be repeated, and frees its id', async () => {
      const spec = world.instance([{ exit: 1 }])
      await run(spec)
      await engine.remove(spec.instanceId)
      await engine.remove(spec.instanceId)
      expect(await engine.inspect(spec.instanceId)).toBeUndefined()
      expect(await engine.list()).toEqual([])
      expect(await run(spec)).toMatchObject({ exitCode: 1 })
    })

    test('of a service ends and forgets all of it and nothing else', async () => {
      const stays = world.asService(world.instance(['serve']), 'srv-two')
      for (const spec of [world.instance(['serve']), world.instance(['deaf', 'serve']), stays]) await engine.start(spec)
      await engine.removeOwner('srv-one')
      expect(await engine.list()).toEqual([{ instanceId: stays.instanceId, ownerId: 'srv-two' }])
      expect(await isRunning(stays)).toBe(true)
    })
  })

  describe('usage', () => {
    test('is undefined for what does not run', async () => {
      const spec = await startServing()
      expect(await engine.usage(spec.instanceId)).toMatchObject({ cpuSeconds: expect.any(Number), memoryBytes: expect.any(Number) })
      await engine.stop(spec.instanceId, { graceMs: 1000 })
      expect(await engine.usage(spec.instanceId)).toBeUndefined()
      expect(await engine.usage('srv-none-1')).toBeUndefined()
    })
  })

  describeRunsOnce({
    engine: () => engine,
    async restart() {
      await engine.close()
      engine = await open()
    },
    world: () => world,
    endOf,
  })

  describe('a new engine on the same state', () => {
    test('finds what runs and is told how it ends', async () => {
      const spec = await startServing('polite')
      const [before, { epoch }] = [await engine.inspect(spec.instanceId), engine]
      await engine.close()
      engine = await open()
      expect(engine.epoch).toBe(epoch)
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ ...before, startedAt: expect.any(String) })
      const told = new Promise((resolve) => engine.onExit((id, state) => resolve([id, state.exitCode])))
      await engine.start(spec)
      await engine.stop(spec.instanceId, { graceMs: 30_000 })
      expect(await told).toEqual([spec.instanceId, 0])
      await engine.remove(spec.instanceId)
      expect(await engine.list()).toEqual([])
    })

    test('knows how an instance ended while there was no engine', async () => {
      const spec = world.instance([{ waitMs: 200 }, { print: 'over' }, { exit: 9 }])
      await engine.start(spec)
      await engine.close()
      await until('it is over', () => world.output(spec) === 'over\n')
      engine = await open()
      expect(await endOf(spec.instanceId)).toMatchObject({ exitCode: 9 })
    })
  })

  describe('close', () => {
    test('leaves everything running but terminals', async () => {
      const spec = await startServing()
      const task = world.task([{ print: 'up' }, 'serve'])
      await engine.start(task)
      await until('the task runs', () => world.output(task) === 'up\n')
      let shown = ''
      const onOutput = (bytes: Uint8Array) => {
        shown += new TextDecoder().decode(bytes)
      }
      const terminal = await engine.openTerminal(world.terminal([{ print: 'shown' }, 'serve'], { onOutput }))
      await until('the terminal is there', () => shown.includes('shown'))
      await engine.close()
      await terminal.ended
      engine = await open()
      const ids = (await engine.list()).map(({ instanceId }) => instanceId)
      expect(ids.sort()).toEqual([spec.instanceId, task.instanceId].sort())
      expect(await Promise.all([isRunning(spec), isRunning(task)])).toEqual([true, true])
    })
  })

  describe('freeze', () => {
    test('leaves an instance running, beyond the control plane, until it is thawed or stopped', async () => {
      const spec = await startServing('polite')
      await Promise.all([engine.freeze(spec.instanceId), engine.freeze(spec.instanceId)])
      expect(await isRunning(spec)).toBe(true)
      await engine.close()
      engine = await open()
      expect(await isRunning(spec)).toBe(true)
      await engine.thaw(spec.instanceId)
      await engine.thaw(spec.instanceId)
      await engine.freeze(spec.instanceId)
      await engine.stop(spec.instanceId, { graceMs: 30_000 })
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', exitCode: 0 })
    })

    test('does not keep a program from being killed', async () => {
      const spec = await startServing()
      await engine.freeze(spec.instanceId)
      await engine.stop(spec.instanceId, { graceMs: 0 })
      expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'exited', signal: 'SIGKILL' })
    })

    test('does nothing to what does not run', async () => {
      const spec = world.instance([{ exit: 0 }])
      await run(spec)
      for (const id of [spec.instanceId, 'srv-none-1']) {
        await engine.freeze(id)
        await engine.thaw(id)
      }
    })
  })

  describe('terminals', () => {
    let shown: string
    const onOutput = (bytes: Uint8Array) => {
      shown += new TextDecoder().decode(bytes)
    }
    const type = (terminal: OpenTerminal, text: string) => terminal.write(new TextEncoder().encode(text))
    beforeEach(() => {
      shown = ''
    })

    const places: [string, () => Promise<{ joins?: string }>][] = [
      ['of their own', async () => ({})],
      ['in an instance', async () => ({ joins: (await startServing()).instanceId })],
    ]

    test.each(places)('%s tell the exit code after all of the output', async (_, place) => {
      const terminal = await engine.openTerminal(world.terminal([{ print: 'hello' }, { exit: 7 }], { onOutput, ...(await place()) }))
      expect(await terminal.ended).toEqual({ exitCode: 7, signal: null })
      expect(shown).toContain('hello')
      await terminal.close()
      expect((await engine.list()).map(({ instanceId }) => instanceId)).not.toContainEqual(expect.stringMatching(/^shl-/))
    })

    test.each(places)('%s take what is typed, wait while paused, and end when closed', async (_, place) => {
      const terminal = await engine.openTerminal(world.terminal([{ print: 'up' }, 'echo'], { onOutput, ...(await place()) }))
      await until('it is up', () => shown.includes('up'))
      await type(terminal, 'typed\n')
      await until('it is written back', () => shown.includes('typed'))
      terminal.resize(40, 10)
      terminal.pause()
      terminal.resume()
      await type(terminal, 'again\n')
      await until('it goes on', () => shown.includes('again'))
      await Promise.all([terminal.close(), terminal.close()])
      await terminal.ended
      await type(terminal, 'nobody reads this')
    })

    test('are refused where no such instance runs', async () => {
      const spec = world.terminal(['serve'], { onOutput, joins: 'srv-one-nowhere' })
      await expect(engine.openTerminal(spec)).rejects.toMatchObject({ code: 'not_found' })
    })

    test('end with the service they are of', async () => {
      const { instanceId } = await startServing()
      const terminal = await engine.openTerminal(world.terminal([{ print: 'up' }, 'serve'], { onOutput, joins: instanceId }))
      await until('it is up', () => shown.includes('up'))
      await engine.removeOwner('srv-one')
      await terminal.ended
      expect(await engine.list()).toEqual([])
    })

    test('end and are forgotten with the control plane', async () => {
      const terminal = await engine.openTerminal(world.terminal([{ print: 'up' }, 'serve'], { onOutput }))
      await until('it is up', () => shown.includes('up'))
      await engine.close()
      await terminal.ended
      engine = await open()
      expect(await engine.list()).toEqual([])
    })
  })
}
