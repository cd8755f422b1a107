import type { Shortage, Unit } from './reserve.ts'

export interface SpaceUser {
  id: string
  kind: 'service' | 'build'
  held: number
  heldBefore: number | undefined
  allowed: number
  /** The service has so many files that they could not be measured in time: what it holds may be anything above `held`. */
  isUnmeasured?: boolean
}

const MIB = 1024 * 1024
/** Less than this between two measurements a few seconds apart fills no disk. */
export const SMALL_GROWTH: Record<Unit, number> = { bytes: 4 * MIB, files: 1000 }
/** Files for each MiB: a folder of a large app's packages has about 50. */
export const FILES_PER_MIB = 128
const PER_MIB: Record<Unit, number> = { bytes: MIB, files: FILES_PER_MIB }
/** On a disk smaller than the plans on it add up to, nobody may have more than this share. */
const LARGEST_SHARE = 0.25

export const allowedOn = ({ unit, total }: Pick<Shortage, 'unit' | 'total'>, diskMb: number): number =>
  Math.min(diskMb * PER_MIB[unit], total * LARGEST_SHARE)

/** Who is to be stopped on a short disk: furthest beyond their plan, else unmeasured, else grown most. Undefined when somebody else has filled it. */
export function heaviestUser(users: readonly SpaceUser[], smallGrowth: number): SpaceUser | undefined {
  const beyond = users.filter((user) => excessOf(user) > 0)
  if (beyond.length > 0) return most(beyond, excessOf)
  const unmeasured = users.filter(({ isUnmeasured }) => isUnmeasured)
  if (unmeasured.length > 0) return most(unmeasured, ({ held }) => held)
  return most(
    users.filter((user) => growthOf(user) >= smallGrowth),
    growthOf,
  )
}

const excessOf = ({ held, allowed }: SpaceUser): number => held - allowed
const growthOf = ({ held, heldBefore }: SpaceUser): number => (heldBefore === undefined ? 0 : held - heldBefore)

const most = (users: readonly SpaceUser[], measure: (user: SpaceUser) => number): SpaceUser | undefined =>
  users.toSorted((a, b) => measure(b) - measure(a) || (a.id < b.id ? -1 : 1))[0]
