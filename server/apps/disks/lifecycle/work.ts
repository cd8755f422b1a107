import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { allDiskIds } from '../store.ts'
import { reconcileDisk } from './reconcile.ts'

export interface DiskWork {
  poke(diskId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

export function createDiskWork(context: AppContext): DiskWork {
  const driver = createDriver({
    run: (diskId) => reconcileDisk(context, diskId),
    onError: (diskId, error) => context.log.error('disk not reconciled', { diskId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke: (diskId) => driver.poke(diskId),
    pokeAll: () => {
      for (const diskId of allDiskIds(context.db)) driver.poke(diskId)
    },
    settled: () => driver.settled(),
  }
}
