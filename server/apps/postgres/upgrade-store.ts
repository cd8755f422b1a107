import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'

/**
 * In `preparing` and from `settling` on its server runs; in `starting` it is to come up with the new version. `failed` left all as it was,
 * `returned` took it back.
 */
export type UpgradeStep =
  | 'preparing'
  | 'checking'
  | 'keeping'
  | 'linking'
  | 'starting'
  | 'settling'
  | 'done'
  | 'failed'
  | 'returning'
  | 'returned'

/** The last upgrade of a database to another major version. Times are milliseconds since 1970. */
export interface StoredUpgrade {
  id: string
  fromVersion: string
  toVersion: string
  step: UpgradeStep
  volumeId: string
  snapshot: string
  attempts: number
  startedAt: number
  stoppedAt: number | null
  finishedAt: number | null
  /** Until when it can be taken back; null where it cannot. */
  keptUntil: number | null
  reason: string | null
}

const upgrades = tableOf<StoredUpgrade>('postgres_upgrades', {
  id: 'id',
  fromVersion: 'from_version',
  toVersion: 'to_version',
  step: 'step',
  volumeId: 'volume_id',
  snapshot: 'snapshot',
  attempts: 'attempts',
  startedAt: 'started_at',
  stoppedAt: 'stopped_at',
  finishedAt: 'finished_at',
  keptUntil: 'kept_until',
  reason: 'reason',
})

/** The last upgrade of a database; undefined for one that was never upgraded. */
export const upgradeOf = (db: Database, id: string): StoredUpgrade | undefined => upgrades.get(db, 'WHERE id = $id', { id })

/** All of them, in no order. */
export const allUpgrades = (db: Database): StoredUpgrade[] => upgrades.all(db, '')

export type NewUpgrade = Pick<StoredUpgrade, 'id' | 'fromVersion' | 'toVersion' | 'volumeId' | 'snapshot' | 'startedAt'>

/** Writes an upgrade down before anything is done of it, in the place of the one before. */
export function putUpgrade(db: Database, upgrade: NewUpgrade): void {
  const nothing = { attempts: 0, stoppedAt: null, finishedAt: null, keptUntil: null, reason: null }
  upgrades.put(db, { ...nothing, ...upgrade, step: 'preparing' })
}

/** Changes what is named and nothing else. */
export function updateUpgrade(db: Database, id: string, change: Partial<Omit<StoredUpgrade, 'id'>>): void {
  upgrades.update(db, { id }, change)
}
