/** What is to be done about spares, out of their rows and what is known of databases. Whoever does it may die anywhere, and asks again. */
import type { StoredSpare } from '../spare-store.ts'

type Spare = Pick<StoredSpare, 'volumeId' | 'volumeKind' | 'version' | 'program' | 'phase'>
export type Wanted = Pick<StoredSpare, 'volumeKind' | 'version' | 'program' | 'sizeGb'>

export interface SpareSituation<S extends Spare> {
  now: number
  startedAt: number
  spares: readonly S[]
  /** What one would be made of now; undefined where there are no programs. */
  make: Wanted | undefined
  databases: readonly { createdAt: number; isBeingMade: boolean }[]
  roomGb: number
}

export interface SparePlan<S> {
  remove: S[]
  make: Wanted | undefined
  /** When to look again though nothing happens; undefined where there is nothing to wait for. */
  lookAt: number | undefined
}

/** A start, and who makes several databases in turn, come first. */
const QUIET_AFTER_START_MS = 30_000
const QUIET_AFTER_CREATION_MS = 10_000
const BEING_MADE_CHECK_MS = 5000
/** Less room than this is for others; a spare that is there goes when there is less than the second. */
const LEAST_ROOM_GB = 4
const SHORT_ROOM_GB = 1

/** One spare is kept, once there is a database. One that was begun and not finished is thrown away, as is one of other programs. */
export function planSpares<S extends Spare>({ now, startedAt, spares, make, databases, roomGb }: SpareSituation<S>): SparePlan<S> {
  const isShort = roomGb < SHORT_ROOM_GB
  const good = spares.filter((spare) => !isShort && spare.phase === 'ready' && make !== undefined && fits(spare, make))
  const remove = spares.filter((spare) => spare !== good[0])
  const nothing = { remove, make: undefined, lookAt: undefined }
  if (good.length > 0 || make === undefined || databases.length === 0 || roomGb < LEAST_ROOM_GB) return nothing
  if (databases.some(({ isBeingMade }) => isBeingMade)) return { ...nothing, lookAt: now + BEING_MADE_CHECK_MS }
  const newest = Math.max(0, ...databases.map(({ createdAt }) => (createdAt > now ? 0 : createdAt)))
  const dueAt = Math.max(startedAt + QUIET_AFTER_START_MS, newest + QUIET_AFTER_CREATION_MS)
  return dueAt > now ? { ...nothing, lookAt: dueAt } : { ...nothing, make }
}

const fits = (spare: Spare, { volumeKind, version, program }: Wanted): boolean =>
  spare.volumeKind === volumeKind && spare.version === version && spare.program === program
