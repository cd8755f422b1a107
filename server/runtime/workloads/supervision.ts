import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { ServerLog } from '../../platform/server-log.ts'
import type { Clock } from '../../platform/work/clock.ts'
import type { ExitReasons } from './exit-reasons.ts'
import type { WorkloadOwner } from './owner.ts'
import type { StoredWorkload } from './store.ts'

export interface SupervisorOptions extends Clock {
  db: Database
  engine: Pick<Engine, 'epoch' | 'start' | 'inspect' | 'stop' | 'remove' | 'onExit'>
  exitReasons: ExitReasons
  log: ServerLog
  signal: AbortSignal
}

export interface Supervision extends SupervisorOptions {
  ownerOf(workload: StoredWorkload): WorkloadOwner
  changed(workload: StoredWorkload): void
}
