import type { Database } from 'bun:sqlite'
import type { Engine } from '../../engines/port/port.ts'
import type { SetOwner } from '../../engines/port/sets.ts'
import type { ServerLog } from '../../platform/server-log.ts'
import type { Clock } from '../../platform/work/clock.ts'
import type { ExitReasons } from './exit-reasons.ts'
import type { WorkloadOwner } from './owner.ts'

/** What an engine has to give that keeps no sets by itself. */
export type UnitEngine = Pick<Engine, 'epoch' | 'start' | 'inspect' | 'stop' | 'remove' | 'freeze' | 'thaw' | 'onExit'>

export interface KeeperOptions extends Clock {
  db: Database
  engine: UnitEngine
  exitReasons: ExitReasons
  log: ServerLog
  signal: AbortSignal
}

/** Sets and their replicas alike say whose they are and what for. */
export interface Owned extends SetOwner {
  id: string
  purpose: string
}

export interface Keeping extends KeeperOptions {
  ownerOf(owned: Owned): WorkloadOwner
  /** Tells everybody but the keeper that something of an owner is another. */
  tell(owner: SetOwner): void
  /** Has the keeper look at a set, and tells everybody. */
  changed(setId: string): void
  /** Replicas that were frozen since this control plane began: the engine may have begun anew before. */
  readonly frozen: Set<string>
}
