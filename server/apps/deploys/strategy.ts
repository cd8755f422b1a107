import type { Database } from 'bun:sqlite'
import type { RolloutStrategy } from '../../../shared/deploy.ts'
import { diskOfService } from '../disks/store.ts'

export const strategyOf = (db: Database, serviceId: string): RolloutStrategy =>
  diskOfService(db, serviceId) === undefined ? 'rolling' : 'stop_first'
