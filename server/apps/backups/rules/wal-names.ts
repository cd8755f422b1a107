/**
 * Names of the files of PostgreSQL's log, and positions in it: `0000000100000000000000A3` is of time line 1, and holds the 16 MiB from
 * position 0/A3000000 on. See "WAL Internals" in its manual, and XLogFileName in src/include/access/xlog_internal.h.
 */
export const SEGMENT_BYTES = 16 * 1024 * 1024
const SEGMENTS_PER_ID = 0x1_0000_0000 / SEGMENT_BYTES

const segmentPattern = /^[0-9A-F]{24}$/
const historyPattern = /^[0-9A-F]{8}\.history$/

export const isSegment = (name: string): boolean => segmentPattern.test(name)
export const isHistory = (name: string): boolean => historyPattern.test(name)

/** A position as PostgreSQL writes it, such as `2/A3000028`, in bytes. @throws Error for what is none. */
export function parseLsn(text: string): bigint {
  const [, high, low] = /^([0-9A-Fa-f]{1,8})\/([0-9A-Fa-f]{1,8})$/.exec(text) ?? []
  if (high === undefined || low === undefined) throw new Error(`"${text}" is no position in a log`)
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/** Counts segments from the beginning of the log, whatever their time line. */
export const segmentNumberAt = (lsn: string): number => Number(parseLsn(lsn) / BigInt(SEGMENT_BYTES))

export const segmentNumberOf = (name: string): number =>
  Number.parseInt(name.slice(8, 16), 16) * SEGMENTS_PER_ID + Number.parseInt(name.slice(16), 16)

export const timelineOf = (name: string): number => Number.parseInt(name.slice(0, 8), 16)

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0')

/** The name of a segment without its time line: names of one log sort by it. */
export const placeInLog = (number: number): string => segmentName(1, number).slice(8)

export const segmentName = (timeline: number, number: number): string =>
  `${hex(timeline)}${hex(Math.floor(number / SEGMENTS_PER_ID))}${hex(number % SEGMENTS_PER_ID)}`

/** The file of the log that an object of the repository holds. */
export const logFileOf = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
