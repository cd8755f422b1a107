import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Cgroups, openCgroups, v2Place } from '../../../../server/engines/process/cgroups/cgroups.ts'
import { keyedValue } from '../../../../server/engines/process/cgroups/layouts.ts'
import { until } from '../../../support/until.ts'

const limits = { cpu: 0.5, memoryBytes: 512 * 1024 * 1024, pids: 100 }
const GROUP = 'srv-one/srv-one-1'
let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroups-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

function open(): Cgroups {
  const opened = openCgroups('cpd-a', root)
  if ('reason' in opened) throw new Error(opened.reason)
  return opened
}

describe('version 2', () => {
  beforeEach(() => writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n'))

  test('sets the limits of a plan', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.version).toBe('v2')
    expect([...cgroups.controllers]).toEqual(['cpu', 'memory', 'pids', 'io', 'cpuset'])
    expect(read('cpd-a', GROUP, 'memory.max')).toBe('536870912')
    expect(read('cpd-a', GROUP, 'memory.swap.max')).toBe('0')
    expect(cgroups.lastWrites(GROUP, limits)).toEqual([{ file: join(root, 'cpd-a', GROUP, 'cpu.max'), value: '50000 100000' }])
    expect(read('cpd-a', GROUP, 'pids.max')).toBe('100')
  })

  test('hands the controllers down each level', () => {
    open().create(GROUP, limits, 'live')
    // A plain file keeps the last of the five writes.
    for (const level of ['.', 'cpd-a', 'cpd-a/srv-one']) expect(read(level, 'cgroup.subtree_control')).toBe('+cpuset')
  })

  test('is entered by one file and kills with one write', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.entryWrites(GROUP)).toEqual([{ file: join(root, 'cpd-a', GROUP, 'cgroup.procs'), value: '0' }])
    expect(cgroups.birthplace(GROUP)).toBe(join(root, 'cpd-a', GROUP))
    writeFileSync(join(root, 'cpd-a', GROUP, 'cgroup.kill'), '')
    cgroups.kill(GROUP)
    expect(read('cpd-a', GROUP, 'cgroup.kill')).toBe('1')
  })

  test('lets what can wait yield to what is live', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    cgroups.create('srv-one/dep-1', limits, 'background')
    expect(read('cpd-a', GROUP, 'cpu.weight')).toBe('100')
    expect(read('cpd-a', 'srv-one/dep-1', 'cpu.weight')).toBe('10')
    expect(read('cpd-a', 'srv-one/dep-1', 'io.weight')).toBe('default 10')
  })

  test('freezes with one write, where the kernel can', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.setFrozen(GROUP, true)).toBe(false)
    writeFileSync(join(root, 'cpd-a', GROUP, 'cgroup.freeze'), '0')
    writeFileSync(join(root, 'cpd-a', GROUP, 'cgroup.events'), 'populated 1\nfrozen 0\n')
    expect(cgroups.setFrozen(GROUP, true)).toBe(true)
    expect(read('cpd-a', GROUP, 'cgroup.freeze')).toBe('1')
    expect(cgroups.isFrozen(GROUP)).toBe(false)
    writeFileSync(join(root, 'cpd-a', GROUP, 'cgroup.events'), 'populated 1\nfrozen 1\n')
    expect(cgroups.isFrozen(GROUP)).toBe(true)
    cgroups.setFrozen(GROUP, false)
    expect(read('cpd-a', GROUP, 'cgroup.freeze')).toBe('0')
  })

  test('is below what systemd has delegated, where it keeps us in a subgroup, and else at the top', () => {
    const unit = join(root, 'system.slice/cpd.service')
    expect(v2Place(root, '0::/system.slice/cpd.service/control\n')).toBe(root)
    mkdirSync(unit, { recursive: true })
    writeFileSync(join(unit, 'cgroup.controllers'), 'cpu memory pids\n')
    expect(v2Place(root, '0::/system.slice/cpd.service/control\n')).toBe(unit)
    expect(v2Place(root, '0::/system.slice/cpd.service\n')).toBe(root)
    expect(v2Place(root, '3:pids:/x\n0::/\n')).toBe(root)
  })

  test('forbids forks before it kills where the kernel has no cgroup.kill', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    cgroups.kill(GROUP)
    expect(read('cpd-a', GROUP, 'pids.max')).toBe('0')
  })

  test('reads members, usage and kills for want of memory', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    const files = {
      'cgroup.procs': '12\n345\n',
      'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\n',
      'memory.current': '9000\n',
      'memory.peak': '80000\n',
      'memory.stat': 'anon 5000\ninactive_file 4000\n',
      'memory.events': 'low 0\noom 3\noom_kill 2\noom_group_kill 0\n',
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'cpd-a', GROUP, name), text)
    expect(cgroups.members(GROUP)).toEqual([12, 345])
    expect(cgroups.usage(GROUP)).toEqual({ cpuSeconds: 2.5, memoryBytes: 5000 })
    expect(cgroups.used(GROUP)).toEqual({ cpuSeconds: 2.5, peakMemoryBytes: 76_000 })
    expect(cgroups.oomKills(GROUP)).toBe(2)
  })

  test('tells when a group may have lost its last process, until it is no longer asked to', async () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    const events = join(root, 'cpd-a', GROUP, 'cgroup.events')
    writeFileSync(events, 'populated 1\n')
    let count = 0
    const stop = cgroups.watchEnd(GROUP, () => count++)
    writeFileSync(events, 'populated 0\n')
    await until('it is told', () => count > 0)
    stop()
    cgroups.watchEnd('srv-gone/srv-gone-1', () => count++)()
  })

  test('lists the groups of its label only', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    mkdirSync(join(root, 'cpd-b/srv-x/srv-x-1'), { recursive: true })
    expect(cgroups.groups()).toEqual([GROUP])
  })

  test('confines a group to some cores and gives it back all', () => {
    mkdirSync(join(root, 'cpd-a'))
    writeFileSync(join(root, 'cpd-a/cpuset.cpus.effective'), '0-3\n')
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.cores).toEqual([0, 1, 2, 3])
    cgroups.confine(GROUP, [1, 3])
    expect(read('cpd-a', GROUP, 'cpuset.cpus')).toBe('1,3')
    cgroups.confine(GROUP, undefined)
    // The kernel takes an empty line for no cores of its own.
    expect(read('cpd-a', GROUP, 'cpuset.cpus')).toBe('\n')
    cgroups.confine('srv-gone/srv-gone-1', [1])
  })

  test('tells what a group is refused and what it may have', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.processorLimit(GROUP)).toBeUndefined()
    writeFileSync(join(root, 'cpd-a', GROUP, 'pids.events'), 'max 17\n')
    writeFileSync(join(root, 'cpd-a', GROUP, 'cpu.max'), '50000 100000\n')
    expect(cgroups.refusedForks(GROUP)).toBe(17)
    expect(cgroups.processorLimit(GROUP)).toBe(0.5)
    writeFileSync(join(root, 'cpd-a', GROUP, 'cpu.max'), 'max 100000\n')
    expect(cgroups.processorLimit(GROUP)).toBeUndefined()
  })

  test('does without a controller that is not offered', () => {
    writeFileSync(join(root, 'cgroup.controllers'), 'pids\n')
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect([...cgroups.controllers]).toEqual(['pids'])
    expect(existsSync(join(root, 'cpd-a', GROUP, 'memory.max'))).toBe(false)
    expect(cgroups.cores).toEqual([])
    cgroups.confine(GROUP, [0])
    expect(existsSync(join(root, 'cpd-a', GROUP, 'cpuset.cpus'))).toBe(false)
    expect(cgroups.usage(GROUP)).toEqual({ cpuSeconds: 0, memoryBytes: 0 })
  })

  test('still groups processes where no controller may be handed down', () => {
    mkdirSync(join(root, 'cgroup.subtree_control'))
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.controllers.size).toBe(0)
    expect(existsSync(join(root, 'cpd-a', GROUP))).toBe(true)
  })
})

describe('removal', () => {
  test('takes the directory of the service with its last workload', () => {
    for (const name of ['pids', 'memory']) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'cgroup.procs'), '')
    }
    const cgroups = open()
    // Plain directories stand for the kernel's, which are empty to rmdir.
    for (const controller of ['pids', 'memory']) mkdirSync(join(root, controller, 'cpd-a/srv-one/srv-one-1'), { recursive: true })
    for (const controller of ['pids', 'memory']) mkdirSync(join(root, controller, 'cpd-a/srv-one/srv-one-2'))
    expect(cgroups.version).toBe('v1')
    expect(cgroups.remove('srv-one/srv-one-1')).toBe(true)
    expect(cgroups.groups()).toEqual(['srv-one/srv-one-2'])
    expect(cgroups.remove('srv-one/srv-one-2')).toBe(true)
    expect(existsSync(join(root, 'pids/cpd-a/srv-one'))).toBe(false)
    expect(cgroups.remove('srv-one/srv-one-2')).toBe(true)
  })
})

describe('version 1', () => {
  test('freezes and weighs by its own files', () => {
    for (const name of ['cpu', 'freezer']) {
      mkdirSync(join(root, name, 'cpd-a/srv-one/srv-one-1'), { recursive: true })
      writeFileSync(join(root, name, 'cgroup.procs'), '')
    }
    writeFileSync(join(root, 'cpu/cpd-a/cpu.cfs_quota_us'), '-1')
    writeFileSync(join(root, 'freezer/cpd-a', GROUP, 'freezer.state'), 'THAWED\n')
    const cgroups = open()
    cgroups.create(GROUP, limits, 'background')
    expect(read('cpu/cpd-a', GROUP, 'cpu.shares')).toBe('102')
    expect(cgroups.setFrozen(GROUP, true)).toBe(true)
    expect(read('freezer/cpd-a', GROUP, 'freezer.state')).toBe('FROZEN')
    expect(cgroups.isFrozen(GROUP)).toBe(true)
    expect(cgroups.birthplace(GROUP)).toBeUndefined()
    expect(cgroups.entryWrites(GROUP).map(({ file }) => file)).toEqual(
      ['cpu', 'freezer'].map((name) => join(root, name, 'cpd-a', GROUP, 'tasks')),
    )
  })
})

describe('cores in version 1', () => {
  beforeEach(() => {
    for (const name of ['pids', 'cpuset']) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'cgroup.procs'), '')
    }
  })

  test('are those of the machine, handed down to each group', () => {
    for (const [file, text] of Object.entries({ 'cpuset.effective_cpus': '0-1\n', 'cpuset.effective_mems': '0\n' })) {
      writeFileSync(join(root, 'cpuset', file), text)
    }
    mkdirSync(join(root, 'cpuset/cpd-a'))
    writeFileSync(join(root, 'cpuset/cpd-a/cpuset.effective_cpus'), '0-1\n')
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect(cgroups.cores).toEqual([0, 1])
    expect(read('cpuset/cpd-a/cpuset.cpus')).toBe('0-1')
    expect(read('cpuset/cpd-a/cpuset.mems')).toBe('0')
    expect(read('cpuset/cpd-a/cgroup.clone_children')).toBe('1')
    expect(cgroups.entryWrites(GROUP).map(({ file }) => file)).toContain(join(root, 'cpuset/cpd-a', GROUP, 'tasks'))
    cgroups.confine(GROUP, [1])
    expect(read('cpuset/cpd-a', GROUP, 'cpuset.cpus')).toBe('1')
    cgroups.confine(GROUP, undefined)
    expect(read('cpuset/cpd-a', GROUP, 'cpuset.cpus')).toBe('0,1')
  })

  test('are left alone where they cannot be handed down', () => {
    const cgroups = open()
    cgroups.create(GROUP, limits, 'live')
    expect([...cgroups.controllers]).toEqual(['pids'])
    expect(cgroups.cores).toEqual([])
    expect(existsSync(join(root, 'cpuset/cpd-a'))).toBe(false)
    cgroups.confine(GROUP, [0])
  })
})

test('a machine without control groups has a reason instead', () => {
  expect(openCgroups('cpd-a', root)).toEqual({ reason: `no control groups are mounted at ${root}` })
})

test('the value of a key is that of the whole key', () => {
  expect(keyedValue('oom_kill_disable 1\noom_kill 5\n', 'oom_kill')).toBe(5)
  expect(keyedValue('', 'oom_kill')).toBe(0)
})
