import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { readStat, TICKS_PER_SECOND } from '../../../server/engines/process/kernel/proc.ts'
import type { ProcessEngine, ProcessSpec } from '../../../server/engines/process/spec.ts'
import { spawnProcess } from '../../../server/platform/process/spawn.ts'
import { namespacesInUse, namespacesOf } from '../../support/leftovers.ts'
import { endOf, makeWorld, pidsWith, until, type World } from './support/world.ts'

const label = `cpd-test-hostile-${process.pid}`
const nap = `9${process.pid}.125`

const modes: [string, (world: World) => string | undefined][] = [
  ['with control groups', () => undefined],
  ['without them', (world) => join(world.dir, 'no-cgroups')],
]

describe.each(modes)('%s', (_, cgroupRootOf) => {
  let world: World
  let engine: ProcessEngine

  beforeEach(async () => {
    world = makeWorld()
    const cgroupRoot = cgroupRootOf(world)
    if (cgroupRoot !== undefined) mkdirSync(cgroupRoot)
    engine = await createProcessEngine({ stateDir: world.stateDir, label, ...(cgroupRoot && { cgroupRoot }) })
  })

  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  const start = async (command: string, changes: Partial<ProcessSpec> = {}) => {
    const spec = world.instance(command, changes)
    await engine.start(spec)
    const pid = engine.pidOf(spec.instanceId) ?? 0
    const own = new Set(namespacesOf(process.pid))
    const startedBy = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * TICKS_PER_SECOND
    return { spec, pid, startedBy, namespaces: namespacesOf(pid).filter((name) => !own.has(name)) }
  }

  const expectNothingLeft = async ({ spec, namespaces, startedBy }: Awaited<ReturnType<typeof start>>) => {
    expect(pidsWith(nap)).toEqual([])
    // Numbers of namespaces are given to others soon, so what began later does not count.
    const inUse = namespacesInUse()
    const inside = namespaces.flatMap((name) => inUse.get(name) ?? [])
    expect(inside.filter((pid) => !isZombie(pid) && (readStat(pid)?.startTicks ?? startedBy) < startedBy)).toEqual([])
    await engine.remove(spec.instanceId)
    expect(readdirSync(join(world.stateDir, 'instances'))).toEqual([])
    expect(groupsNamed(spec.instanceId)).toEqual([])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(world.dir)
  }

  const DEAF = `trap "" TERM INT HUP QUIT USR1 USR2 PIPE`
  const python = (lines: string) => `exec python3 -c '${lines}'`

  const hostile: [string, string, number][] = [
    ['makes itself a daemon', `(setsid setsid sh -c '${DEAF}; sleep ${nap}; sleep ${nap}' &) ; exec sleep ${nap}`, 2],
    ['ignores every signal', `${DEAF}; sleep ${nap}; sleep ${nap}; sleep ${nap}`, 1],
    ['closes all its descriptors', `exec 0<&- 1>&- 2>&-; sleep ${nap} & exec sleep ${nap}`, 2],
    [
      'forks in every generation',
      `f() { (setsid sh -c "${DEAF.replaceAll('"', "'")}; sleep ${nap}" &); }; f; f; f; f; exec sleep ${nap}`,
      5,
    ],
    ['stops itself', `sleep ${nap} & kill -STOP $$; sleep ${nap}`, 1],
    [
      'hides behind another name',
      python(
        `import os, time, ctypes; ctypes.CDLL(None).prctl(15, b"kthread"); os.setsid() if os.fork() == 0 else 0; time.sleep(999) # ${nap}`,
      ),
      2,
    ],
  ]

  test.each(hostile)('what %s is gone after its stop, with all that held it', async (_name, command, count) => {
    const started = await start(command)
    const { spec } = started
    expect(started.namespaces.length).toBeGreaterThanOrEqual(3)
    await until('all of it runs', () => pidsWith(nap).filter((pid) => !isShell(pid)).length >= count)
    await engine.stop(spec.instanceId, { graceMs: 50 })
    await expectNothingLeft(started)
  })

  test('what forks at its limit without end is gone at once', async () => {
    if (!(await engine.guarantees()).some(({ id, holds }) => id === 'process-limit' && holds)) return
    const started = await start(`f() { setsid sleep ${nap} & f & f; }; f`, { limits: { cpu: 1, memoryBytes: 64e6, pids: 30 } })
    const { spec } = started
    await until('it has met its limit', () => world.output(spec).includes('fork'))
    await engine.stop(spec.instanceId, { graceMs: 0 })
    await expectNothingLeft(started)
  })

  test('what kills all it can neither stops its init nor is taken for ended by another', async () => {
    const started = await start('kill -9 1; kill -STOP 1; kill -TERM 1; kill -9 -1; exit 5')
    const { spec } = started
    expect(await endOf(engine, spec.instanceId)).toMatchObject({ exitCode: 5, signal: null })
    await expectNothingLeft(started)
  })

  test('orphans are reaped while the command runs', async () => {
    const { spec, pid } = await start(`i=0; while [ $i -lt 20 ]; do (true & true &); i=$((i+1)); done; echo up; exec sleep ${nap}`)
    await until('it is up', () => world.output(spec) === 'up\n')
    const namespace = namespacesOf(pid)[0] ?? ''
    await until('no zombie is left', () => (namespacesInUse().get(namespace) ?? []).every((one) => !isZombie(one)))
  })

  test('a terminal that was open when the control plane was killed is ended by the next', async () => {
    const { spec } = await start('exec sleep 1000')
    const task = world.terminal(`trap "" HUP TERM; setsid sleep ${nap} & sleep ${nap}; sleep ${nap}`)
    const terminals = [
      { ...task, terminalId: 'shl-own' },
      { ...task, terminalId: 'shl-joined', joins: spec.instanceId },
    ]
    const cgroupRoot = cgroupRootOf(world)
    const options = { stateDir: world.stateDir, label, ...(cgroupRoot !== undefined && { cgroupRoot }) }
    const script = `
      import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../../server/engines/process/engine.ts'))}
      const engine = await createProcessEngine(${JSON.stringify(options)})
      for (const one of ${JSON.stringify(terminals)}) await engine.openTerminal({ ...one, onOutput: () => {} })
      setInterval(() => {}, 1000)`
    writeFileSync(join(world.dir, 'elsewhere.ts'), script)
    const elsewhere = spawnProcess([process.execPath, join(world.dir, 'elsewhere.ts')], { env: { BUN_BE_BUN: '1' } })
    await until('all of them run', () => pidsWith(`sleep\0${nap}`).length === 4)
    elsewhere.kill('SIGKILL')
    await elsewhere.exited
    const next = await createProcessEngine(options)
    expect(pidsWith(nap)).toEqual([])
    expect(readdirSync(join(world.stateDir, 'instances'))).toEqual([spec.instanceId])
    expect(await next.inspect(spec.instanceId)).toMatchObject({ status: 'running' })
    await next.close()
  })
})

function groupsNamed(id: string): string[] {
  const roots = ['/sys/fs/cgroup', ...readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name))]
  return roots.map((root) => join(root, label, 'srv-one', id)).filter(existsSync)
}

const stateOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return ''
  }
}
const isShell = (pid: number): boolean => stateOf(pid).includes('(sh)')
const isZombie = (pid: number): boolean => / Z /.test(stateOf(pid))
