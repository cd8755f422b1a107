/**
 * The gap of a stop-first deploy, when its pre-deploy command is to have the disk: what was live is stopped before the command and not after
 * it. That the deploy is in this step, stop-first, is what keeps the service's plan from starting anything (instances/situation.ts); so
 * whoever is killed in the gap leaves it to the next control plane, and when the step has ended in any way the plan goes on by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppContext } from '../context.ts'
import { diskOfService } from '../disks/store.ts'
import { type DiskOfInstance, diskForInstance } from '../disks/workload.ts'
import type { StoredService } from '../services/store.ts'
import { instancesOf } from '../workloads/instance-store.ts'

/** How soon it is looked at again whether the instances have gone. */
const WAIT_MS = 50

const NO_DISK: DiskOfInstance = { sandbox: {}, env: {} }

/**
 * Runs a command of a stop-first deploy with the disk of its service, once nothing else of the service has it.
 *
 * @throws the signal's reason when aborted, and what `run` throws.
 */
export async function withDisk(
  context: AppContext,
  service: StoredService,
  { signal, run }: { signal: AbortSignal; run: (disk: DiskOfInstance) => Promise<void> },
): Promise<void> {
  context.work.poke('service', service.id)
  while (!isFree(context, service.id)) await sleep(WAIT_MS, undefined, { signal })
  const giveUp = context.work.takenDisks.take(service.id)
  try {
    await run(await diskForInstance(context, service.id))
  } finally {
    giveUp()
  }
}

/** For a command of a deploy that leaves the old release serving. */
export const withoutDisk = (run: (disk: DiskOfInstance) => Promise<void>): Promise<void> => run(NO_DISK)

function isFree({ db }: Pick<AppContext, 'db'>, serviceId: string): boolean {
  const disk = diskOfService(db, serviceId)
  return instancesOf(db, serviceId).length === 0 && (disk === undefined || disk.status === 'available')
}
