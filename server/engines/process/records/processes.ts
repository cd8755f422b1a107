import { AppError } from '../../../../shared/error.ts'
import type { Usage } from '../../port/port.ts'
import type { Cgroups } from '../cgroups/cgroups.ts'
import {
  allProcesses,
  isAlive,
  PAGE_BYTES,
  type ProcessIdentity,
  type ProcessStat,
  signalProcess,
  TICKS_PER_SECOND,
  treeOf,
} from '../kernel/proc.ts'
import type { Records, Workload } from './record.ts'

export interface Processes {
  members(workload: Workload): number[]
  terminate(workload: Workload): void
  /** SIGKILL to everything, the monitor once it has recorded the end. @throws AppError `unavailable` where the kernel keeps one (hung I/O). */
  killAll(workload: Workload): Promise<void>
  areGone(workload: Workload, withinMs: number): Promise<boolean>
  usage(workload: Workload): Usage
}

export function groupOf(workload: Workload): string {
  return `${parentGroupOf(workload)}/${workload.id}`
}

/** Weights count among siblings, so what can wait is kept apart from the apps of its service. */
export const parentGroupOf = ({ ownerId, priority }: Pick<Workload, 'ownerId' | 'priority'>): string =>
  priority === 'background' ? `${ownerId}-background` : ownerId

const KILL_DEADLINE_MS = 10_000
const RECORD_GRACE_MS = 1000
const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 50

export function processesBy(records: Records, cgroups: Cgroups | undefined): Processes {
  const scan = recentScans()
  const members = (workload: Workload) =>
    cgroups === undefined ? descendants(records, workload) : grouped(records, workload, cgroups.members(groupOf(workload)))
  const kill = (workload: Workload, isLate: boolean) => {
    const init = liveInit(records, workload)
    // The end of an init ends everything in its namespace, but it should first record how the command ended.
    if (init !== undefined) return signalProcess(isLate ? init.pid : (unrecordedLeader(records, workload) ?? init.pid), 'SIGKILL')
    cgroups?.kill(groupOf(workload))
    const [all, leader] = [members(workload), records.processOf(workload)]
    // Its parent outside must see it end: a namespace lasts as long as somebody has to be told of a process of it.
    const inside = workload.isJoined && !isLate ? all.filter((pid) => pid !== leader?.pid) : []
    for (const pid of inside.length > 0 ? inside : all) signalProcess(pid, 'SIGKILL')
  }
  return {
    members,
    areGone: (workload, withinMs) => isTrueWithin(() => members(workload).length === 0, withinMs),
    terminate: (workload) => {
      markStopping(records, workload)
      const leader = records.processOf(workload)
      // The group's number is the leader's pid, which is nobody else's as long as the leader or a member lives.
      if (leader !== undefined && (isAlive(leader) || members(workload).length > 0)) signalProcess(-leader.pid, 'SIGTERM')
    },
    killAll: async (workload) => {
      const beganAt = Date.now()
      const isOver = await isTrueWithin(() => {
        if (members(workload).length === 0 && liveInit(records, workload) === undefined) return true
        kill(workload, Date.now() - beganAt > RECORD_GRACE_MS)
        // What is frozen dies when it goes on (v1).
        cgroups?.setFrozen(groupOf(workload), false)
        return false
      }, KILL_DEADLINE_MS)
      if (!isOver) {
        throw new AppError(
          'unavailable',
          `Processes ${members(workload).join(', ')} of ${workload.id} do not end even when killed; the disk may hang`,
        )
      }
    },
    usage(workload) {
      if (cgroups?.controllers.has('memory')) return cgroups.usage(groupOf(workload))
      const processes = scan()
      return summedUsage(cgroups === undefined ? descendants(records, workload, processes) : members(workload), processes)
    },
  }
}

function liveInit(records: Records, workload: Workload): ProcessIdentity | undefined {
  const init = records.monitorOf(workload)
  return init !== undefined && isAlive(init) ? init : undefined
}

function unrecordedLeader(records: Records, workload: Workload): number | undefined {
  const leader = records.processOf(workload)
  return leader !== undefined && records.exitOf(workload.id) === undefined ? leader.pid : undefined
}

function markStopping(records: Records, workload: Workload): void {
  try {
    if (records.monitorOf(workload) !== undefined) records.markStopping(workload.id)
  } catch {
    // On a full disk the children of the command end with it, which is no reason not to stop.
  }
}

/** A launcher may enter the control group late, and must not be missed before; its monitor may be in it. */
function grouped(records: Records, workload: Workload, members: number[]): number[] {
  const [leader, init] = [records.processOf(workload), records.monitorOf(workload)]
  const isMissing = leader !== undefined && !members.includes(leader.pid) && isAlive(leader)
  return [...members.filter((pid) => pid !== init?.pid), ...(isMissing ? [leader.pid] : [])]
}

function descendants(records: Records, workload: Workload, processes = allProcesses()): number[] {
  const init = records.monitorOf(workload)
  const root = init ?? records.processOf(workload)
  return root === undefined ? [] : treeOf(root, processes).filter((pid) => pid !== init?.pid)
}

function summedUsage(pids: readonly number[], processes: readonly ProcessStat[]): Usage {
  const wanted = new Set(pids)
  const stats = processes.filter(({ pid }) => wanted.has(pid))
  return {
    cpuSeconds: stats.reduce((sum, stat) => sum + stat.cpuTicks, 0) / TICKS_PER_SECOND,
    memoryBytes: stats.reduce((sum, stat) => sum + stat.residentPages, 0) * PAGE_BYTES,
  }
}

const SCAN_FRESH_MS = 100

function recentScans(): () => ProcessStat[] {
  let scan: ProcessStat[] = []
  let scannedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - scannedAt > SCAN_FRESH_MS) {
      scan = allProcesses()
      scannedAt = performance.now()
    }
    return scan
  }
}

export async function isTrueWithin(check: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (check()) return true
    if (Date.now() >= deadline) return false
    await Bun.sleep(Math.min(pauseMs, Math.max(1, deadline - Date.now())))
  }
}
