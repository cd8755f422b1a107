import type { Usage, Used } from '../../port/port.ts'
import type { Limits, Priority } from '../../port/workload.ts'

export type Controller = 'cpu' | 'cpuacct' | 'cpuset' | 'memory' | 'pids' | 'freezer' | 'io'

export interface LimitWrite {
  controller: Controller
  file: string
  value: string
  isOptional?: true
  isLast?: true
}

export type ReadControl = (controller: Controller, file: string) => string

export interface CgroupLayout {
  version: 'v1' | 'v2'
  /**
   * The file by which a process enters. Moving a whole process makes the kernel wait for all processors (10 ms and more); a single thread
   * moves itself at once, but only v1 lets a thread into a group of its own. In v2 a process can be born in its group instead.
   */
  entryFile: 'tasks' | 'cgroup.procs'
  hasBirthplace: boolean
  limitWrites(limits: Limits, priority: Priority): LimitWrite[]
  weightWrites(priority: Priority): LimitWrite[]
  eventsFile: string | undefined
  throttling(read: ReadControl): Throttling
  refusedForks(read: ReadControl): number
  processorLimit(read: ReadControl): number | undefined
  coresFile: string
  everyCore(cores: readonly number[]): string
  freezing: { file: string; frozen: string; thawed: string }
  isFrozen(readFile: (file: string) => string): boolean
  usage(read: ReadControl): Usage
  /** Undefined where the kernel does not tell (v2 before Linux 5.19), or has no such controller for us. */
  used(read: ReadControl): Used | undefined
  oomKills(read: ReadControl): number
}

export interface Throttling {
  periods: number
  throttledPeriods: number
}

const CPU_PERIOD_US = 100_000
/** The kernel takes no smaller quota. */
const MIN_CPU_QUOTA_US = 1000

const V1_CPU_SHARES: Record<Priority, number> = { live: 1024, background: 102 }
const V2_WEIGHTS: Record<Priority, number> = { live: 100, background: 10 }

function cpuQuotaUs(cpu: number): number {
  return Math.max(MIN_CPU_QUOTA_US, Math.round(cpu * CPU_PERIOD_US))
}

export function keyedValue(text: string, key: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${key} `))
  return line === undefined ? 0 : Number(line.slice(key.length + 1))
}

function throttlingIn(read: ReadControl): Throttling {
  const stat = read('cpu', 'cpu.stat')
  return { periods: keyedValue(stat, 'nr_periods'), throttledPeriods: keyedValue(stat, 'nr_throttled') }
}

function refusedForksIn(read: ReadControl): number {
  return keyedValue(read('pids', 'pids.events'), 'max')
}

/** Both figures in microseconds; no limit has no number, or a negative one. */
function limitOf(quota: string | undefined, period: string | undefined): number | undefined {
  const limit = Number(quota) / Number(period)
  return limit > 0 ? limit : undefined
}

/** Page cache that the kernel can drop at will is not counted as use, as `docker stats` and the kubelet do. */
function workingSetBytes(totalBytes: number, droppableBytes: number): number {
  return Math.max(0, totalBytes - droppableBytes)
}

function usedIn({ cpuSeconds }: Usage, peak: string, droppableBytes: number): Used | undefined {
  return peak === '' ? undefined : { cpuSeconds, peakMemoryBytes: workingSetBytes(Number(peak), droppableBytes) }
}

/** Kernel documentation: admin-guide/cgroup-v1/{memory,cpuacct,cpusets,pids,freezer-subsystem}.rst and scheduler/sched-bwc.rst. */
export const v1Layout: CgroupLayout = {
  version: 'v1',
  entryFile: 'tasks',
  hasBirthplace: false,
  eventsFile: undefined,
  limitWrites: ({ cpu, memoryBytes, pids }, priority) => [
    { controller: 'memory', file: 'memory.limit_in_bytes', value: String(memoryBytes) },
    { controller: 'memory', file: 'memory.memsw.limit_in_bytes', value: String(memoryBytes), isOptional: true },
    ...v1Layout.weightWrites(priority),
    { controller: 'cpu', file: 'cpu.cfs_period_us', value: String(CPU_PERIOD_US) },
    { controller: 'cpu', file: 'cpu.cfs_quota_us', value: String(cpuQuotaUs(cpu)) },
    { controller: 'pids', file: 'pids.max', value: String(pids) },
  ],
  weightWrites: (priority) => [{ controller: 'cpu', file: 'cpu.shares', value: String(V1_CPU_SHARES[priority]) }],
  throttling: throttlingIn,
  refusedForks: refusedForksIn,
  processorLimit: (read) => limitOf(read('cpu', 'cpu.cfs_quota_us'), read('cpu', 'cpu.cfs_period_us')),
  coresFile: 'cpuset.effective_cpus',
  everyCore: (cores) => cores.join(','),
  freezing: { file: 'freezer.state', frozen: 'FROZEN', thawed: 'THAWED' },
  isFrozen: (readFile) => readFile('freezer.state').trim() === 'FROZEN',
  usage: (read) => ({
    cpuSeconds: Number(read('cpuacct', 'cpuacct.usage')) / 1e9,
    memoryBytes: workingSetBytes(
      Number(read('memory', 'memory.usage_in_bytes')),
      keyedValue(read('memory', 'memory.stat'), 'total_inactive_file'),
    ),
  }),
  used: (read) =>
    usedIn(
      v1Layout.usage(read),
      read('memory', 'memory.max_usage_in_bytes'),
      keyedValue(read('memory', 'memory.stat'), 'total_inactive_file'),
    ),
  oomKills: (read) => keyedValue(read('memory', 'memory.oom_control'), 'oom_kill'),
}

/** Kernel documentation: admin-guide/cgroup-v2.rst. */
export const v2Layout: CgroupLayout = {
  version: 'v2',
  entryFile: 'cgroup.procs',
  hasBirthplace: true,
  eventsFile: 'cgroup.events',
  limitWrites: ({ cpu, memoryBytes, pids }, priority) => [
    { controller: 'memory', file: 'memory.max', value: String(memoryBytes) },
    { controller: 'memory', file: 'memory.swap.max', value: '0', isOptional: true },
    ...v2Layout.weightWrites(priority),
    { controller: 'cpu', file: 'cpu.max', value: `${cpuQuotaUs(cpu)} ${CPU_PERIOD_US}`, isLast: true },
    { controller: 'pids', file: 'pids.max', value: String(pids) },
  ],
  weightWrites: (priority) => [
    { controller: 'cpu', file: 'cpu.weight', value: String(V2_WEIGHTS[priority]) },
    { controller: 'io', file: 'io.weight', value: `default ${V2_WEIGHTS[priority]}`, isOptional: true },
  ],
  throttling: throttlingIn,
  refusedForks: refusedForksIn,
  processorLimit: (read) => {
    const [quota, period] = read('cpu', 'cpu.max').split(' ')
    return limitOf(quota, period)
  },
  coresFile: 'cpuset.cpus.effective',
  everyCore: () => '\n',
  freezing: { file: 'cgroup.freeze', frozen: '1', thawed: '0' },
  isFrozen: (readFile) => keyedValue(readFile('cgroup.events'), 'frozen') === 1,
  usage: (read) => ({
    cpuSeconds: keyedValue(read('cpu', 'cpu.stat'), 'usage_usec') / 1e6,
    memoryBytes: workingSetBytes(Number(read('memory', 'memory.current')), keyedValue(read('memory', 'memory.stat'), 'inactive_file')),
  }),
  used: (read) => usedIn(v2Layout.usage(read), read('memory', 'memory.peak'), keyedValue(read('memory', 'memory.stat'), 'inactive_file')),
  oomKills: (read) => keyedValue(read('memory', 'memory.events'), 'oom_kill'),
}
