import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { readBootId, readStat } from '../../../server/engines/process/kernel/proc.ts'
import type { ProcessEngine } from '../../../server/engines/process/spec.ts'
import { type SpawnedProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'
import { endOf, makeWorld, pidsWith, until, type World } from './support/world.ts'

const label = `cpd-test-crash-${process.pid}`

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

/** Starts instances in a process of their own, which stands for `cpd serve`. */
function startElsewhere(specs: object[]): SpawnedProcess {
  const script = `
    import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../../server/engines/process/engine.ts'))}
    const engine = await createProcessEngine(${JSON.stringify({ stateDir: world.stateDir, label })})
    console.log('engine')
    for (const spec of ${JSON.stringify(specs)}) { await engine.start(spec); console.log('started') }
    setInterval(() => {}, 1000)`
  const path = join(world.dir, 'elsewhere.ts')
  writeFileSync(path, script)
  return spawnProcess([process.execPath, path], {
    env: { BUN_BE_BUN: '1' },
    stdout: { appendTo: join(world.dir, 'elsewhere.out') },
    stderr: 'stdout',
  })
}

const elsewhereWrote = () => (existsSync(join(world.dir, 'elsewhere.out')) ? readFileSync(join(world.dir, 'elsewhere.out'), 'utf8') : '')

describe('kill -9 of the control plane', () => {
  test('leaves the instance running, to be adopted with its exact end', async () => {
    const spec = world.instance('while [ ! -e end ]; do sleep 0.05; done; kill -USR1 $$')
    const elsewhere = startElsewhere([spec])
    await until('it has started', () => elsewhereWrote().includes('started'))
    elsewhere.kill('SIGKILL')
    await elsewhere.exited
    const engine = await open()
    expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
    writeFileSync(join(spec.cwd, 'end'), '')
    expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: null, signal: 'SIGUSR1' })
  })

  test('at any moment of a start loses no process', async () => {
    const nap = `9${process.pid}.25`
    for (const delayMs of [0, 1, 2, 4, 6, 8, 12, 20, 40]) {
      const specs = Array.from({ length: 12 }, () => world.instance(`exec sleep ${nap}`))
      writeFileSync(join(world.dir, 'elsewhere.out'), '')
      const elsewhere = startElsewhere(specs)
      await until('the engine is there', () => elsewhereWrote().includes('engine'))
      await Bun.sleep(delayMs)
      elsewhere.kill('SIGKILL')
      await elsewhere.exited
      const engine = await open()
      // Nothing runs that is not listed: removing the listed ones leaves nothing.
      for (const { instanceId } of await engine.list()) {
        await engine.stop(instanceId, { graceMs: 0 })
        await engine.remove(instanceId)
      }
      expect(pidsWith(nap)).toEqual([])
      await engine.close()
    }
  })
})

describe('adoption', () => {
  const record = (id: string, bootId: string, stat: string) => {
    const dir = join(world.stateDir, 'instances', id)
    mkdirSync(dir, { recursive: true })
    writeFileSync(join(dir, 'about.json'), JSON.stringify({ id, serviceId: 'srv-one', kind: 'instance', bootId }))
    writeFileSync(join(dir, 'process'), stat)
  }

  test('does not take a process for ours because it has the same pid', async () => {
    const stranger = spawnProcess(['/bin/sleep', '1000'], { detached: true })
    const line = readFileSync(`/proc/${stranger.pid}/stat`, 'utf8')
    const ticks = String(readStat(stranger.pid)?.startTicks)
    record('srv-one-recycled', readBootId(), line.replace(` ${ticks} `, ` ${Number(ticks) - 1} `))
    record('srv-one-rebooted', 'another-boot', line)
    const engine = await open()
    for (const id of ['srv-one-recycled', 'srv-one-rebooted']) {
      const state = await engine.inspect(id)
      // What ended with the machine was not killed by anybody.
      const why = id === 'srv-one-recycled' ? 'monitor_killed' : 'unseen'
      expect(state).toMatchObject({ status: 'exited', exitCode: null, signal: null, why })
      await engine.stop(id, { graceMs: 100 })
      await engine.remove(id)
    }
    await engine.removeOwner('srv-one')
    expect(readStat(stranger.pid)?.state).toBe('S')
    stranger.kill('SIGKILL')
    await stranger.exited
  })

  test('forgets a record that was cut off before anything started', async () => {
    mkdirSync(join(world.stateDir, 'instances', 'srv-one-half'), { recursive: true })
    const engine = await open()
    expect(await engine.list()).toEqual([])
    expect(readdirSync(join(world.stateDir, 'instances'))).toEqual([])
  })

  test('notices that a monitor was killed, and with it every process of the instance', async () => {
    const engine = await open()
    const nap = `9${process.pid}.5`
    const [own, adopted] = [1, 2].map(() => world.instance(`setsid sleep ${nap} & (trap '' TERM HUP; sleep ${nap}) & exec sleep ${nap}`))
    if (own === undefined || adopted === undefined) return
    await engine.start(adopted)
    const next = await open()
    await next.start(own)
    for (const { instanceId } of [own, adopted]) {
      process.kill(readStat(next.pidOf(instanceId) ?? 0)?.parentPid ?? 0, 'SIGKILL')
      expect(await endOf(next, instanceId)).toMatchObject({ exitCode: null, signal: null, why: 'monitor_killed' })
    }
    expect(pidsWith(nap)).toEqual([])
  })

  test('ends what is in a control group of ours without a record, and nothing in others', async () => {
    const controller = ['pids', 'unified', '.']
      .map((name) => join('/sys/fs/cgroup', name))
      .find((dir) => existsSync(join(dir, 'cgroup.procs')))
    const enter = (group: string) => {
      mkdirSync(join(controller ?? '', group), { recursive: true })
      const child = spawnProcess(['/bin/sleep', '1000'], { detached: true })
      writeFileSync(join(controller ?? '', group, 'cgroup.procs'), String(child.pid))
      return child
    }
    const [stray, foreign] = [enter(`${label}/srv-lost/srv-lost-1`), enter(`${label}-other/srv-lost/srv-lost-1`)]
    await open()
    expect(await stray.exited).toMatchObject({ signal: 'SIGKILL' })
    expect(existsSync(join(controller ?? '', label, 'srv-lost'))).toBe(false)
    expect(readStat(foreign.pid)?.state).toBe('S')
    foreign.kill('SIGKILL')
    await foreign.exited
    for (const path of ['/srv-lost/srv-lost-1', '/srv-lost', '']) rmdirSync(join(controller ?? '', `${label}-other${path}`))
  })

  test('leaves what runs once going, to be found with its exit code and not to be run again', async () => {
    const spec = world.task('echo ran; while [ ! -e end ]; do sleep 0.05; done; exit 23')
    const elsewhere = startElsewhere([spec])
    await until('it has started', () => elsewhereWrote().includes('started'))
    elsewhere.kill('SIGKILL')
    await elsewhere.exited
    const engine = await open()
    expect(await engine.list()).toEqual([{ instanceId: spec.instanceId, ownerId: 'srv-one' }])
    await engine.start(spec)
    writeFileSync(join(spec.cwd, 'end'), '')
    expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: 23, signal: null })
    await expect(engine.start(spec)).rejects.toMatchObject({ code: 'conflict' })
    expect(world.output(spec)).toBe('ran\n')
  })
})

test('a hundred starts and stops leave no process, control group, record or mount', async () => {
  const engine = await open()
  const nap = `9${process.pid}.75`
  const mountsBefore = readFileSync('/proc/self/mountinfo', 'utf8')
  const descriptorsBefore = readdirSync('/proc/self/fd').length
  for (let round = 0; round < 20; round++) {
    const specs = Array.from({ length: 5 }, () => world.instance(`setsid sleep ${nap} & exec sleep ${nap}`))
    await Promise.all(specs.map((spec) => engine.start(spec)))
    await Promise.all(specs.map((spec) => engine.stop(spec.instanceId, { graceMs: 20 })))
    await Promise.all(specs.map((spec) => engine.remove(spec.instanceId)))
  }
  expect(pidsWith(nap)).toEqual([])
  expect(pidsWith(world.dir)).toEqual([])
  expect(readdirSync(join(world.stateDir, 'instances'))).toEqual([])
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(mountsBefore)
  // Tests in other threads of this process open a few of their own meanwhile.
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(descriptorsBefore + 50)
  const controllers = readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name, label))
  const groups = controllers
    .filter(existsSync)
    .flatMap((dir) => readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
  expect(groups).toEqual([])
})
