import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../../shared/error.ts'
import type { Usage, Used } from '../../port/port.ts'
import type { Limits, Priority } from '../../port/workload.ts'
import { signalProcess } from '../kernel/proc.ts'
import { watchPath } from '../kernel/watch-path.ts'
import { parseCores } from './cores.ts'
import { childDirs, groupNames, readIfThere, removeDir, removeGroup } from './group-dirs.ts'
import { type CgroupLayout, type Controller, type LimitWrite, type Throttling, v1Layout, v2Layout } from './layouts.ts'

/** Control groups under our label, each named `<parent>/<workload id>`; a service has a parent for its apps, and one for what can wait. */
export interface Cgroups {
  readonly version: 'v1' | 'v2'
  readonly controllers: ReadonlySet<Controller>
  create(group: string, limits: Limits, priority: Priority): void
  birthplace(group: string): string | undefined
  entryWrites(group: string): ControlWrite[]
  lastWrites(group: string, limits: Limits): ControlWrite[]
  viewOf(group: string): CgroupView
  members(group: string): number[]
  watchEnd(group: string, onChange: () => void): () => void
  /** Forbids new processes in the group and kills those there are. To be repeated until there are no members. */
  kill(group: string): void
  setFrozen(group: string, isFrozen: boolean): boolean
  isFrozen(group: string): boolean
  weigh(parent: string, priority: Priority): void
  throttling(group: string): Throttling
  refusedForks(group: string): number
  /** In cores; undefined where there is none. */
  processorLimit(group: string): number | undefined
  readonly cores: readonly number[]
  confine(group: string, cores: readonly number[] | undefined): void
  usage(group: string): Usage
  used(group: string): Used | undefined
  oomKills(group: string): number
  groups(): string[]
  remove(group: string): boolean
  close(): void
}

export interface ControlWrite {
  file: string
  value: string
}

export interface CgroupView {
  covered: string[]
  own: { source: string; target: string }[]
}

interface Hierarchies {
  root: string
  layout: CgroupLayout
  labelDirs: ReadonlyMap<Controller, string>
  uniqueDirs: [string, ...string[]]
  freezerDir: string | undefined
  enableBelow(directory: string): void
}

export function openCgroups(label: string, root = '/sys/fs/cgroup'): Cgroups | { reason: string } {
  try {
    const hierarchies = existsSync(join(root, 'cgroup.controllers')) ? openV2(label, root) : openV1(label, root)
    return hierarchies === undefined ? { reason: `no control groups are mounted at ${root}` } : groupsIn(hierarchies)
  } catch (error) {
    return { reason: `control groups cannot be made: ${messageOf(error)}` }
  }
}

const V1_CONTROLLERS: Controller[] = ['pids', 'memory', 'cpu', 'cpuacct', 'freezer']
const V2_CONTROLLERS: Controller[] = ['cpu', 'memory', 'pids', 'io', 'cpuset']

function openV1(label: string, root: string): Hierarchies | undefined {
  const labelDirs = new Map<Controller, string>()
  for (const controller of V1_CONTROLLERS) {
    const mounted = join(root, controller)
    if (!existsSync(join(mounted, 'cgroup.procs'))) continue
    const directory = join(realpathSync(mounted), label)
    mkdirSync(directory, { recursive: true })
    if (controller !== 'cpu' || existsSync(join(directory, 'cpu.cfs_quota_us'))) labelDirs.set(controller, directory)
  }
  const cpusetDir = openV1Cpuset(join(root, 'cpuset'), label)
  if (cpusetDir !== undefined) labelDirs.set('cpuset', cpusetDir)
  const [first, ...rest] = new Set(labelDirs.values())
  const freezerDir = labelDirs.get('freezer')
  return first === undefined
    ? undefined
    : { root, layout: v1Layout, labelDirs, uniqueDirs: [first, ...rest], freezerDir, enableBelow: () => {} }
}

/**
 * A group without cores and memory nodes takes no process, so each is made with those of the one above it (`cgroup.clone_children`). A
 * machine that does not let us have it so has no such controller for us.
 */
function openV1Cpuset(mounted: string, label: string): string | undefined {
  if (!existsSync(join(mounted, 'cgroup.procs'))) return undefined
  const [above, directory] = [realpathSync(mounted), join(realpathSync(mounted), label)]
  try {
    mkdirSync(directory, { recursive: true })
    for (const kind of ['cpus', 'mems']) {
      writeFileSync(join(directory, `cpuset.${kind}`), readFileSync(join(above, `cpuset.effective_${kind}`), 'utf8').trim())
    }
    writeFileSync(join(directory, 'cgroup.clone_children'), '1')
    return directory
  } catch {
    removeDir(directory)
    return undefined
  }
}

/** The subgroup that systemd puts cpd itself into, where it is asked to (`DelegateSubgroup=control`, since version 254). */
const CONTROL_SUBGROUP = 'control'

/**
 * The group below which ours are: the one that systemd has delegated to us, when it holds no process itself, as limits below it need; else
 * the topmost, where systemd leaves the groups of others alone.
 */
export function v2Place(root: string, ownGroups: string): string {
  const own = /^0::(\/.+)$/m.exec(ownGroups)?.[1]
  const delegated = own !== undefined && basename(own) === CONTROL_SUBGROUP ? join(root, dirname(own)) : root
  return existsSync(join(delegated, 'cgroup.controllers')) ? delegated : root
}

function openV2(label: string, mounted: string): Hierarchies {
  const root = v2Place(mounted, readIfThere('/proc/self/cgroup'))
  const directory = join(root, label)
  mkdirSync(directory, { recursive: true })
  const offered = readFileSync(join(root, 'cgroup.controllers'), 'utf8').trim().split(' ')
  const enable = (controller: Controller, parent: string) => writeFileSync(join(parent, 'cgroup.subtree_control'), `+${controller}`)
  const usable = V2_CONTROLLERS.filter((controller) => {
    try {
      if (!offered.includes(controller)) return false
      enable(controller, root)
      enable(controller, directory)
      return true
    } catch {
      // A container's own root group holds processes, which forbids limits below it.
      return false
    }
  })
  return {
    root: mounted,
    layout: v2Layout,
    labelDirs: new Map(usable.map((controller) => [controller, directory])),
    uniqueDirs: [directory],
    freezerDir: directory,
    enableBelow: (parent) => {
      for (const controller of usable) enable(controller, parent)
    },
  }
}

function groupsIn(hierarchies: Hierarchies): Cgroups {
  const { layout, labelDirs, uniqueDirs, freezerDir } = hierarchies
  const read = (group: string) => (controller: Controller, file: string) => {
    const labelDir = labelDirs.get(controller)
    return labelDir === undefined ? '' : readIfThere(join(labelDir, group, file))
  }
  const members = (group: string) =>
    readIfThere(join(uniqueDirs[0], group, 'cgroup.procs'))
      .split('\n')
      .filter((line) => line !== '')
      .map(Number)
  return {
    version: layout.version,
    controllers: new Set(labelDirs.keys()),
    create: (group, limits, priority) => {
      createGroup(hierarchies, group, layout.limitWrites(limits, priority))
      // Workloads of other services are siblings of the parent, so weights count there. An app's parent keeps what it has come to.
      if (priority === 'background') weigh(hierarchies, dirname(group), priority)
    },
    birthplace: (group) => (layout.hasBirthplace ? join(uniqueDirs[0], group) : undefined),
    entryWrites: (group) => uniqueDirs.map((directory) => ({ file: join(directory, group, layout.entryFile), value: '0' })),
    viewOf: (group) => viewOf(hierarchies, group),
    lastWrites: (group, limits) =>
      layout.limitWrites(limits, 'live').flatMap(({ controller, file, value, isLast }) => {
        const labelDir = labelDirs.get(controller)
        return labelDir === undefined || !isLast ? [] : [{ file: join(labelDir, group, file), value }]
      }),
    members,
    watchEnd: (group, onChange) =>
      layout.eventsFile === undefined ? () => {} : watchPath(join(uniqueDirs[0], group, layout.eventsFile), onChange),
    kill: (group) => {
      const killFile = join(uniqueDirs[0], group, 'cgroup.kill')
      if (existsSync(killFile)) return writeFileSync(killFile, '1')
      forbidForks(labelDirs.get('pids'), group)
      for (const pid of members(group)) signalProcess(pid, 'SIGKILL')
    },
    setFrozen: (group, isFrozen) => setFrozen(hierarchies, group, isFrozen),
    isFrozen: (group) => layout.isFrozen((file) => (freezerDir === undefined ? '' : readIfThere(join(freezerDir, group, file)))),
    weigh: (parent, priority) => weigh(hierarchies, parent, priority),
    throttling: (group) => layout.throttling(read(group)),
    refusedForks: (group) => layout.refusedForks(read(group)),
    processorLimit: (group) => layout.processorLimit(read(group)),
    cores: parseCores(read('.')('cpuset', layout.coresFile)),
    confine: (group, cores) => confine(hierarchies, group, cores),
    usage: (group) => layout.usage(read(group)),
    used: (group) => layout.used(read(group)),
    oomKills: (group) => layout.oomKills(read(group)),
    groups: () => groupNames(uniqueDirs),
    remove: (group) => removeGroup(uniqueDirs, group),
    close: () => uniqueDirs.forEach(removeDir),
  }
}

function viewOf({ root, layout, labelDirs, uniqueDirs }: Hierarchies, group: string): CgroupView {
  if (layout.version === 'v2') return { covered: [], own: [{ source: join(uniqueDirs[0], group), target: root }] }
  const own = uniqueDirs.map((directory) => ({ source: join(directory, group), target: dirname(directory) }))
  const isOwn = (path: string) => own.some(({ target }) => target === path)
  return {
    covered:
      labelDirs.size === 0
        ? []
        : childDirs(root)
            .map((name) => join(root, name))
            .filter((path) => !isOwn(path)),
    own,
  }
}

function createGroup({ labelDirs, uniqueDirs, enableBelow }: Hierarchies, group: string, writes: LimitWrite[]): void {
  for (const directory of uniqueDirs) {
    const path = join(directory, group)
    mkdirSync(path, { recursive: true })
    enableBelow(directory)
    enableBelow(join(path, '..'))
  }
  for (const write of writes) {
    const labelDir = labelDirs.get(write.controller)
    if (labelDir !== undefined && !write.isLast) writeLimit(join(labelDir, group), write)
  }
}

function weigh({ layout, labelDirs }: Hierarchies, parent: string, priority: Priority): void {
  for (const write of layout.weightWrites(priority)) {
    const labelDir = labelDirs.get(write.controller)
    if (labelDir !== undefined && existsSync(join(labelDir, parent))) writeLimit(join(labelDir, parent), { ...write, isOptional: true })
  }
}

function confine({ layout, labelDirs }: Hierarchies, group: string, cores: readonly number[] | undefined): void {
  const labelDir = labelDirs.get('cpuset')
  if (labelDir === undefined || !existsSync(join(labelDir, group))) return
  const all = parseCores(readIfThere(join(labelDir, layout.coresFile)))
  writeLimit(join(labelDir, group), {
    controller: 'cpuset',
    file: 'cpuset.cpus',
    value: cores?.join(',') ?? layout.everyCore(all),
    isOptional: true,
  })
}

function writeLimit(directory: string, { file, value, isOptional }: LimitWrite): void {
  try {
    writeFileSync(join(directory, file), value)
  } catch (error) {
    if (!isOptional) throw error
  }
}

function setFrozen({ layout: { freezing }, freezerDir }: Hierarchies, group: string, isFrozen: boolean): boolean {
  const file = freezerDir === undefined ? undefined : join(freezerDir, group, freezing.file)
  if (file === undefined || !existsSync(file)) return false
  writeFileSync(file, isFrozen ? freezing.frozen : freezing.thawed)
  return true
}

/** With no room for another process, killing all there are cannot be outrun by forking. */
function forbidForks(pidsDir: string | undefined, group: string): void {
  const file = pidsDir === undefined ? undefined : join(pidsDir, group, 'pids.max')
  if (file !== undefined && existsSync(file)) writeFileSync(file, '0')
}
