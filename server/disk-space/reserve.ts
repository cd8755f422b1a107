/** A file system, in bytes. `freeBytes` is what everybody may still take, root's own share not counted. */
export interface Space {
  totalBytes: number
  freeBytes: number
}

const MIB = 1024 * 1024
const DEFAULT_RESERVE_BYTES = 1024 * MIB
const RESERVE_SHARE = 0.02
/** Of a small file system a GiB would be all. */
const MAX_RESERVE_SHARE = 0.1

/** How much is to stay free: the setting where there is one, else 1 GiB or 2 % of the file system, but never more than a tenth of it. */
export function reserveBytes({ totalBytes }: Pick<Space, 'totalBytes'>, settingMb: number | undefined): number {
  if (settingMb !== undefined) return Math.min(settingMb * MIB, totalBytes / 2)
  return Math.min(Math.max(DEFAULT_RESERVE_BYTES, totalBytes * RESERVE_SHARE), totalBytes * MAX_RESERVE_SHARE)
}

const CALM_MS = 1000
const QUICK_MS = 50

/**
 * When to look again: every second, and sooner the sooner the free space would be down to the reserve if it went on falling as
 * it did since the last look.
 */
export function nextLookMs(before: Space & { at: number }, now: Space & { at: number }, reserve: number): number {
  const fallenBytes = before.freeBytes - now.freeBytes
  if (fallenBytes <= 0) return CALM_MS
  const leftMs = ((now.freeBytes - reserve) / fallenBytes) * Math.max(1, now.at - before.at)
  return Math.min(CALM_MS, Math.max(QUICK_MS, leftMs / 2))
}
