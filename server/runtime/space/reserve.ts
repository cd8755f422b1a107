import { statfsSync } from 'node:fs'
import type { SizeUnit } from '../../platform/process/folder-size.ts'

export type Unit = SizeUnit

export interface Space {
  total: number
  free: number
}

export type Spaces = Record<Unit, Space>

/** What the file system of a path has. One that makes room for files as they come (btrfs) tells of none: a total of 0. */
export function spacesOf(path: string): Spaces {
  const { bsize, blocks, bavail, files, ffree } = statfsSync(path)
  return { bytes: { total: blocks * bsize, free: bavail * bsize }, files: { total: files, free: ffree } }
}

const MIB = 1024 * 1024
const DEFAULT_RESERVE_BYTES = 1024 * MIB
const LEAST_RESERVE_FILES = 20_000
const RESERVE_SHARE = 0.02
const MAX_RESERVE_SHARE = 0.1

/** How much is to stay free: the setting where there is one, else 1 GiB or 2 % of the file system, but never more than a tenth of it. */
export function reserveBytes(total: number, settingMb: number | undefined): number {
  if (settingMb !== undefined) return Math.min(settingMb * MIB, total / 2)
  return Math.min(Math.max(DEFAULT_RESERVE_BYTES, total * RESERVE_SHARE), total * MAX_RESERVE_SHARE)
}

export function reserveFiles(total: number, settingMb: number | undefined): number {
  if (settingMb === 0) return 0
  return Math.min(Math.max(LEAST_RESERVE_FILES, total * RESERVE_SHARE), total * MAX_RESERVE_SHARE)
}

export const reserveOf = (spaces: Spaces, settingMb: number | undefined): Record<Unit, number> => ({
  bytes: reserveBytes(spaces.bytes.total, settingMb),
  files: reserveFiles(spaces.files.total, settingMb),
})

export interface Shortage extends Space {
  unit: Unit
  reserve: number
}

export function shortageIn(spaces: Spaces, settingMb: number | undefined): Shortage | undefined {
  const reserve = reserveOf(spaces, settingMb)
  const unit = (['bytes', 'files'] as const).find((one) => spaces[one].free < reserve[one])
  return unit === undefined ? undefined : { ...spaces[unit], unit, reserve: reserve[unit] }
}

const CALM_MS = 1000
const QUICK_MS = 50

export function nextCheckMs(before: Spaces & { at: number }, now: Spaces & { at: number }, settingMb: number | undefined): number {
  const reserve = reserveOf(now, settingMb)
  const passedMs = Math.max(1, now.at - before.at)
  const untilShort = (unit: Unit) => {
    const fallen = before[unit].free - now[unit].free
    return fallen <= 0 ? Number.POSITIVE_INFINITY : ((now[unit].free - reserve[unit]) / fallen) * passedMs
  }
  return Math.min(CALM_MS, Math.max(QUICK_MS, Math.min(untilShort('bytes'), untilShort('files')) / 2))
}
