/**
 * The downtime of a stop-first deploy whose pre-deploy command is to have the disk: the live release is stopped before the command. The
 * plan of the service starts nothing while a deploy is in this step (instances/situation.ts), so a control plane that is killed leaves the
 * step to the next one.
 */
import { pause } from '../../platform/work/clock.ts'
import type { AppContext } from '../context.ts'
import { diskOfService } from '../disks/store.ts'
import { type DiskOfInstance, diskForInstance } from '../disks/workload.ts'
import type { StoredService } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'

const WAIT_MS = 50

const NO_DISK: DiskOfInstance = {}

/** Waits until nothing else of the service has its disk, unless the command has it. @throws the signal's reason when aborted, and what `run` throws. */
export async function withDisk(
  context: AppContext,
  service: StoredService,
  { signal, isBegun, run }: { signal: AbortSignal; isBegun: boolean; run: (disk: DiskOfInstance) => Promise<void> },
): Promise<void> {
  if (isBegun) return await run(NO_DISK)
  context.work.poke('service', service.id)
  while (!isFree(context, service.id)) await pause(context, WAIT_MS, signal)
  const giveUp = context.work.takenDisks.take(service.id)
  try {
    await run(diskForInstance(context, service.id))
  } finally {
    giveUp()
  }
}

export const withoutDisk = (run: (disk: DiskOfInstance) => Promise<void>): Promise<void> => run(NO_DISK)

function isFree({ db }: Pick<AppContext, 'db'>, serviceId: string): boolean {
  const disk = diskOfService(db, serviceId)
  return instancesOf(db, serviceId).length === 0 && (disk === undefined || disk.status === 'available')
}
