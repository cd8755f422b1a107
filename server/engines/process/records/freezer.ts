import { AppError } from '../../../../shared/error.ts'
import type { Cgroups } from '../cgroups/cgroups.ts'
import { type ProcessStat, readStat, signalProcess } from '../kernel/proc.ts'
import { groupOf, isTrueWithin, type Processes } from './processes.ts'
import type { Workload } from './record.ts'

export interface Freezer {
  /** @throws AppError `unavailable` when some process goes on for longer than it may. */
  freeze(workload: Workload): Promise<void>
  thaw(workload: Workload): void
}

const FREEZE_DEADLINE_MS = 5000

export function freezerBy(cgroups: Cgroups | undefined, processes: Processes): Freezer {
  const freezeOnce = (workload: Workload): boolean => {
    const group = groupOf(workload)
    if (cgroups?.setFrozen(group, true)) return cgroups.isFrozen(group)
    const stats = processes.members(workload).flatMap((pid) => readStat(pid) ?? [])
    const running = stats.filter((stat) => !isStopped(stat))
    for (const { pid } of running) signalProcess(pid, 'SIGSTOP')
    for (const { pid } of awaitedIn(stats)) signalProcess(pid, 'SIGCONT')
    return running.length === 0
  }
  return {
    freeze: async (workload) => {
      if (await isTrueWithin(() => freezeOnce(workload), FREEZE_DEADLINE_MS)) return
      thaw(cgroups, processes, workload)
      throw new AppError('unavailable', `${workload.id} could not be frozen: a process of it does not stop; the disk may hang`)
    },
    thaw: (workload) => thaw(cgroups, processes, workload),
  }
}

function thaw(cgroups: Cgroups | undefined, processes: Processes, workload: Workload): void {
  if (cgroups?.setFrozen(groupOf(workload), false)) return
  for (const stat of processes.members(workload).flatMap((pid) => readStat(pid) ?? [])) {
    if (isStopped(stat)) signalProcess(stat.pid, 'SIGCONT')
  }
}

const STOPPED = new Set(['T', 't', 'Z'])
const isStopped = ({ state }: ProcessStat): boolean => STOPPED.has(state)

/**
 * Stopped processes that have to go on for a moment so that their parents can stop: who has made a child by vfork(2), as shells do, waits in
 * the kernel, deaf to every signal, until that child has begun its program.
 */
export function awaitedIn(stats: readonly ProcessStat[]): ProcessStat[] {
  const waiting = new Set(stats.filter(({ state }) => state === 'D').map(({ pid }) => pid))
  return stats.filter(({ state, parentPid }) => state === 'T' && waiting.has(parentPid))
}
