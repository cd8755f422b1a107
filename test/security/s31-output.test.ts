import { closeSync, constants, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import { isAlive, parseStat } from '../../server/engines/process/kernel/proc.ts'
import type { ProcessEngine } from '../../server/engines/process/spec.ts'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import { endOf, makeWorld, until, type World } from '../engines/process/support/world.ts'

/** What S31 promises of the output of apps, jobs and builds: nobody fills the disk with it, and none of it is lost. */
const label = `cpd-test-s31-${process.pid}`
const MIB = 1024 * 1024
const PATIENCE_MS = 60_000

let world: World
const opened: ProcessEngine[] = []
const open = async () => {
  const engine = await createProcessEngine({ stateDir: world.stateDir, label })
  opened.push(engine)
  return engine
}

beforeEach(() => {
  world = makeWorld()
})

afterEach(async () => {
  const engine = await open()
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  for (const one of opened.splice(0)) await one.close()
  world.dispose()
})

const spoolOf = (id: string) => parseStat(readFileSync(join(world.stateDir, 'instances', id, 'spool'), 'utf8'))

describe('S31: the output of an app', () => {
  test('cannot be made longer than what was written, nor shorter, through the descriptor it has', async () => {
    const engine = await open()
    const tries = ['os.posix_fallocate(1, 0, 64 << 20)', 'os.ftruncate(1, 1 << 30)', 'os.ftruncate(2, 0)'].map(
      (act) => `python3 -c 'import os; ${act}' 2>/dev/null && echo done`,
    )
    const spec = world.instance(`echo before; ${tries.join('; ')}; stat -L -c %F /proc/self/fd/1 /proc/self/fd/2`)
    await engine.start(spec)
    await endOf(engine, spec.instanceId)
    expect(statSync(spec.outputPath).size).toBeLessThan(MIB)
    expect(world.output(spec)).toBe('before\nfifo\nfifo\n')
  })

  test('is all there when its end is known, in the order of writing, as much as it was', async () => {
    const engine = await open()
    const spec = world.instance('seq 1 200000; echo the end >&2; exit 3')
    await engine.start(spec)
    expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: 3 })
    const lines = world.output(spec).trimEnd().split('\n')
    expect(lines).toHaveLength(200_001)
    expect([lines[0], lines[99_999], lines.at(-1)]).toEqual(['1', '100000', 'the end'])
  })

  test('of a flood takes bounded space, though nobody takes it in, and its sender goes on; lines after it are kept', async () => {
    const engine = await open()
    const spec = world.instance(
      'head -c 300M /dev/zero; echo flooded >done; while [ ! -e go ]; do sleep 0.1; done; echo; echo the last line',
    )
    await engine.start(spec)
    await until('the flood is over', () => existsSync(join(spec.cwd, 'done')), PATIENCE_MS)
    expect(statSync(spec.outputPath).blocks * 512).toBeLessThan(80 * MIB)
    const loss = /about \d+ bytes before this were left out/
    // Where the flood is slow, as on a busy machine, its loss is told in the midst of it.
    const wasTold = loss.test(readFileSync(spec.outputPath, 'latin1'))
    writeFileSync(spec.outputPath, '')
    // What is left of the flood in the pipe is read before this line.
    await until('the loss is told', () => wasTold || loss.test(world.output(spec)), PATIENCE_MS)
    writeFileSync(join(spec.cwd, 'go'), '')
    await endOf(engine, spec.instanceId)
    expect(world.output(spec)).toMatch(/\nthe last line\n$/)
  })

  test('loses nothing when the control plane is killed, and goes on without it', async () => {
    const spec = world.instance('for i in $(seq 1 400); do echo line $i; sleep 0.005; done; echo done')
    const script = `
      import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../server/engines/process/engine.ts'))}
      const engine = await createProcessEngine(${JSON.stringify({ stateDir: world.stateDir, label })})
      await engine.start(${JSON.stringify(spec)})
      console.log('started')
      setInterval(() => {}, 1000)`
    const path = join(world.dir, 'elsewhere.ts')
    writeFileSync(path, script)
    const out = join(world.dir, 'elsewhere.out')
    const elsewhere = spawnProcess([process.execPath, path], { env: { BUN_BE_BUN: '1' }, stdout: { appendTo: out }, stderr: 'stdout' })
    await until('it has started', () => existsSync(out) && readFileSync(out, 'utf8').includes('started'), PATIENCE_MS)
    elsewhere.kill('SIGKILL')
    await elsewhere.exited
    const engine = await open()
    expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: 0 })
    expect(world.output(spec).trimEnd().split('\n')).toEqual([...Array.from({ length: 400 }, (_, n) => `line ${n + 1}`), 'done'])
  })

  test('is not waited for without end when somebody else was handed it', async () => {
    const engine = await open()
    const spec = world.instance('echo mine; while [ ! -e go ]; do sleep 0.05; done')
    await engine.start(spec)
    const spool = spoolOf(spec.instanceId)
    await until('it has begun', () => world.output(spec) === 'mine\n', PATIENCE_MS)
    const passedOn = openSync(`/proc/${engine.pidOf(spec.instanceId)}/fd/1`, constants.O_WRONLY)
    try {
      writeFileSync(join(spec.cwd, 'go'), '')
      expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: 0 })
      expect(world.output(spec)).toBe('mine\n')
      await until('what read it is gone', () => spool !== undefined && !isAlive(spool), PATIENCE_MS)
    } finally {
      closeSync(passedOn)
    }
  })
})
