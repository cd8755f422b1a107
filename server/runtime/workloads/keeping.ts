import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { SetOwner } from '../../engines/port/sets.ts'
import type { ServerLog } from '../../platform/server-log.ts'
import type { Clock } from '../../platform/work/clock.ts'
import type { ExitReasons } from './exit-reasons.ts'
import type { WorkloadOwner } from './owner.ts'

export type UnitEngine = Pick<Engine, 'epoch' | 'start' | 'inspect' | 'stop' | 'remove' | 'freeze' | 'thaw' | 'onExit'>

export interface KeeperOptions extends Clock {
  db: Database
  engine: UnitEngine
  exitReasons: ExitReasons
  log: ServerLog
  signal: AbortSignal
}

export interface Owned extends SetOwner {
  id: string
  purpose: string
}

export interface Keeping extends KeeperOptions {
  ownerOf(owned: Owned): WorkloadOwner
  tell(owner: SetOwner): void
  changed(setId: string): void
  /** Replicas that were frozen since this control plane began: the engine may have begun anew before. */
  readonly frozen: Set<string>
}
