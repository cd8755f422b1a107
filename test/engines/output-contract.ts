import { describe, expect, test } from 'vitest'
import type { Cursor, OpenOutput, OutputName } from '../../server/engines/port/output.ts'
import type { Engine } from '../../server/engines/port/port.ts'
import type { InstanceSpec } from '../../server/engines/port/workload.ts'
import { eachInAWorld } from './opened.ts'
import { type Act, type ContractWorld, until } from './world.ts'

/** What every engine promises of what workloads write. */
export function describeOutput(name: string, makeWorld: () => ContractWorld): void {
  describe(name, () => outputContract(makeWorld))
}

function outputContract(makeWorld: () => ContractWorld): void {
  let world: ContractWorld
  let engine: Engine
  const open = eachInAWorld({
    makeWorld,
    openOn: (one) => one.open(),
    use: (...given) => {
      ;[world, engine] = given
    },
  })

  const nameOf = ({ owner, outputName }: Pick<InstanceSpec, 'owner' | 'outputName'>): OutputName => ({
    ownerId: owner.id,
    name: outputName,
  })
  const outputOf = (spec: InstanceSpec) => engine.output.open(nameOf(spec))
  const isOver = async ({ instanceId }: InstanceSpec) => (await engine.inspect(instanceId))?.status === 'exited'
  const run = async (acts: readonly Act[], changes: Partial<InstanceSpec> = {}) => {
    const spec = world.instance(acts, changes)
    await engine.start(spec)
    await until('it is over', () => isOver(spec))
    return spec
  }
  /** Everything from a cursor on, read in small parts, and the cursor behind it. */
  const readAll = async (output: OpenOutput, from?: Cursor): Promise<{ text: string; cursor: Cursor | undefined }> => {
    let cursor = from
    let text = ''
    for (;;) {
      const part = await output.read({ ...(cursor !== undefined && { after: cursor }), maxBytes: 5 })
      if (part === undefined || part.bytes.length === 0) return { text, cursor }
      text += Buffer.from(part.bytes).toString()
      cursor = part.cursorAt(part.bytes.length)
    }
  }
  const printed = (text: string) => [{ print: text }, { exit: 0 }]

  describe('output', () => {
    test('is all there once the end is known, in the order of writing', async () => {
      const spec = await run([{ print: 'one' }, { print: 'two' }, { print: 'three' }])
      expect((await readAll(outputOf(spec))).text).toBe('one\ntwo\nthree\n')
    })

    test('of one name is one, whatever wrote into it', async () => {
      const first = await run(printed('first'))
      const second = await run(printed('second'), { outputName: first.outputName })
      expect((await readAll(outputOf(second))).text).toBe('first\nsecond\n')
      expect(await engine.output.list(first.owner.id)).toEqual([first.outputName])
    })

    test('is told to have something new until that was read', async () => {
      const output = engine.output.open(nameOf(world.instance([], { outputName: 'looked-at' })))
      expect(output.hasNew()).toBe(false)
      expect(await output.read({ maxBytes: 100 })).toBeUndefined()
      await run(printed('first'), { outputName: 'looked-at' })
      await until('it is told', () => output.hasNew())
      const { cursor } = await readAll(output)
      expect(output.hasNew()).toBe(false)
      await run(printed('second'), { outputName: 'looked-at' })
      await until('it is told again', () => output.hasNew())
      expect((await readAll(output, cursor)).text).toBe('second\n')
    })

    test('goes on at a cursor within what was read, also for an engine that is new', async () => {
      const spec = world.instance([{ print: 'one two' }, { waitMs: 200 }, { print: 'three' }])
      await engine.start(spec)
      await until('it has begun', () => outputOf(spec).hasNew())
      const part = await outputOf(spec).read({ maxBytes: 100 })
      await engine.close()
      engine = await open()
      await until('it is over', () => isOver(spec))
      expect((await readAll(outputOf(spec), part?.cursorAt(4))).text).toBe('two\nthree\n')
    })

    test('of which only the newest is wanted tells how much was skipped and is left', async () => {
      const spec = await run(printed('0123456789'))
      const output = outputOf(spec)
      expect(await output.read({ maxBytes: 0 })).toMatchObject({ skippedBytes: 0, unreadBytes: 11 })
      const part = await output.read({ maxBytes: 3, newestBytes: 5 })
      expect(part).toMatchObject({ skippedBytes: 6, unreadBytes: 2 })
      expect(Buffer.from(part?.bytes ?? []).toString()).toBe('678')
      expect((await readAll(output, part?.cursorAt(1))).text).toBe('789\n')
    })

    test('of which the space was given back goes on where it was', async () => {
      const first = await run(printed('first'))
      const output = outputOf(first)
      const { cursor = '' } = await readAll(output)
      const next = (await output.release(cursor)) ?? cursor
      await run(printed('second'), { outputName: first.outputName })
      expect((await readAll(outputOf(first), next)).text).toBe('second\n')
    })

    test('outlives the workload, and begins anew once it was removed', async () => {
      const first = await run(printed('a long first one'))
      await engine.remove(first.instanceId)
      const output = outputOf(first)
      const { text, cursor } = await readAll(output)
      expect(text).toBe('a long first one\n')
      await output.remove()
      await output.remove()
      expect(await output.read({ maxBytes: 100 })).toBeUndefined()
      expect(await engine.output.list(first.owner.id)).toEqual([])
      await run(printed('second'), { outputName: first.outputName })
      expect((await readAll(outputOf(first), cursor)).text).toBe('second\n')
    })

    test('of one service is nobody else’s, by whatever name', async () => {
      const own = await run(printed('own'), { outputName: 'same' })
      const other = world.asService(world.instance(printed('other'), { outputName: 'same' }), 'srv-two')
      await engine.start(other)
      await until('it is over', () => isOver(other))
      expect((await readAll(outputOf(own))).text).toBe('own\n')
      expect((await readAll(outputOf(other))).text).toBe('other\n')
      await outputOf(other).remove()
      expect(await engine.output.list('srv-one')).toEqual(['same'])
    })
  })
}
