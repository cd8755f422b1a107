import type { DiskState } from '../../../shared/datastore.ts'
import { maxSizeGb } from '../../../shared/disk.ts'
import type { VolumeSpace } from '../../engines/port/port.ts'

/** From which share of a disk on it is so full, and under which it is so no more. */
export interface Threshold {
  from: number
  under: number
}

const NEARLY_FULL: Threshold = { from: 0.8, under: 0.75 }
/** Where a disk that grows by itself does so, as Render's do. */
const GROWS: Threshold = { from: 0.9, under: 0.85 }

const MIB = 1024 * 1024
/** Left of a full disk, writing ends for who has gone on: what the server needs to come to a halt in order. */
const SHORT = { bytes: 32 * MIB, share: 0.02 }

export const shareOf = ({ usedBytes, sizeBytes }: VolumeSpace): number => (sizeBytes === 0 ? 0 : usedBytes / sizeBytes)

export function nextDiskState(state: DiskState, space: VolumeSpace, full: Threshold): DiskState {
  const share = shareOf(space)
  if (share >= full.from || (state === 'full' && share >= full.under)) return 'full'
  if (share >= NEARLY_FULL.from || (state !== 'ok' && share >= NEARLY_FULL.under)) return 'nearly_full'
  return 'ok'
}

export const isShort = ({ usedBytes, sizeBytes }: VolumeSpace): boolean =>
  sizeBytes - usedBytes < Math.max(SHORT.bytes, sizeBytes * SHORT.share)

export const hasToGrow = (space: VolumeSpace): boolean => shareOf(space) >= GROWS.from
export const hasRoomAgain = (space: VolumeSpace): boolean => shareOf(space) < GROWS.under

/** Half as much again, rounded up to steps of so many GiB: Render's rule, whose step is 5. As much as there is room for; undefined for none. */
export function grownSize({ sizeGb, roomGb, stepGb }: { sizeGb: number; roomGb: number; stepGb: number }): number | undefined {
  const wanted = Math.min(maxSizeGb, Math.ceil((sizeGb * 1.5) / stepGb) * stepGb)
  const possible = Math.min(wanted, sizeGb + Math.floor(roomGb))
  return possible > sizeGb ? possible : undefined
}
