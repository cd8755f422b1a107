import { AppError } from '../../../shared/error.ts'
import type { Cgroups } from './cgroups.ts'
import { readStat, signalProcess } from './proc.ts'
import { groupOf, isTrueWithin, type Processes } from './processes.ts'
import type { Workload } from './record.ts'

/** Stops all processes of a workload where they are, and lets them go on. What the kernel holds of it outlives us. */
export interface Freezer {
  /** @throws AppError `unavailable` when some process goes on for longer than it may. */
  freeze(workload: Workload): Promise<void>
  thaw(workload: Workload): void
}

const FREEZE_DEADLINE_MS = 5000

export function freezerBy(cgroups: Cgroups | undefined, processes: Processes): Freezer {
  /** One round, to be repeated until none runs: true then. */
  const freezeOnce = (workload: Workload): boolean => {
    const group = groupOf(workload)
    if (cgroups?.setFrozen(group, true)) return cgroups.isFrozen(group)
    const running = processes.members(workload).filter((pid) => !isStopped(pid))
    for (const pid of running) signalProcess(pid, 'SIGSTOP')
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
  for (const pid of processes.members(workload)) if (isStopped(pid)) signalProcess(pid, 'SIGCONT')
}

function isStopped(pid: number): boolean {
  const state = readStat(pid)?.state
  return state === undefined || state === 'T' || state === 't' || state === 'Z'
}
