import type { Database } from 'bun:sqlite'
import type { VolumeKindName } from '../../engines/port/volumes.ts'
import { tableOf } from '../../platform/db/table.ts'

/** A volume with a cluster that is made ahead, and is nobody's yet. Times are milliseconds since 1970. */
export interface StoredSpare {
  volumeId: string
  volumeKind: VolumeKindName
  sizeGb: number
  /** A number as services have one; who adopts the volume has it from then on. */
  number: number
  version: string
  program: string
  adminPasswordSealed: string
  /** Spares that are ready can be adopted: then their row goes. */
  phase: 'making' | 'ready'
  createdAt: number
}

const spares = tableOf<StoredSpare>('postgres_spares', {
  volumeId: 'volume_id',
  volumeKind: 'volume_kind',
  sizeGb: 'size_gb',
  number: 'number',
  version: 'version',
  program: 'program',
  adminPasswordSealed: 'admin_password_sealed',
  phase: 'phase',
  createdAt: 'created_at',
})

/** What the password of a spare's superuser is sealed for. */
export const sparePurpose = (volumeId: string): string => `postgres-spares.${volumeId}`

/** All spares, those that are being made included, oldest first. */
export const allSpares = (db: Database): StoredSpare[] => spares.all(db, 'ORDER BY created_at')

/** Whether a spare stands on this volume, or is being made there. */
export const isSpareVolume = (db: Database, volumeId: string): boolean =>
  spares.get(db, 'WHERE volume_id = $volumeId', { volumeId }) !== undefined

/** Writes a spare down before anything of it is made. */
export function insertSpare(db: Database, spare: Omit<StoredSpare, 'phase'>): void {
  spares.insert(db, { ...spare, phase: 'making' })
}

/** From now on whoever makes a database may adopt it. */
export function setSpareReady(db: Database, volumeId: string): void {
  spares.update(db, { volumeId }, { phase: 'ready' })
}

/** Nobody adopts it any more. Returns whether it was nobody's still. */
export const retireSpare = (db: Database, volumeId: string): boolean => spares.update(db, { volumeId }, { phase: 'making' }) > 0

/** Forgets a spare, when it is adopted or nothing of it is left. */
export function removeSpareRow(db: Database, volumeId: string): void {
  spares.remove(db, { volumeId })
}

export type FittingSpare = Pick<StoredSpare, 'volumeKind' | 'version' | 'program'> & { largestGb: number }

/** Takes a spare that fits out of the table, if there is one: belongs in the transaction that writes down whose it is. Size is in GiB. */
export function takeSpare(db: Database, { largestGb, ...fitting }: FittingSpare): StoredSpare | undefined {
  const where = `WHERE phase = 'ready' AND volume_kind = $volumeKind AND version = $version AND program = $program AND size_gb <= $largestGb`
  const found = spares.get(db, `${where} ORDER BY size_gb DESC, created_at`, { ...fitting, largestGb })
  if (found !== undefined) removeSpareRow(db, found.volumeId)
  return found
}
