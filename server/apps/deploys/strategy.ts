import type { Database } from 'bun:sqlite'
import type { RolloutStrategy } from '../../../shared/deploy.ts'
import { diskOfService } from '../disks/store.ts'

/** How a new release takes the place of the one before now: a disk is never in two hands. */
export const strategyOf = (db: Database, serviceId: string): RolloutStrategy =>
  diskOfService(db, serviceId) === undefined ? 'rolling' : 'stop_first'
