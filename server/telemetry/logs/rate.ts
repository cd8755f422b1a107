/**
 * What is kept of one output file over time. Who writes faster is read only this fast, and when that leaves them too far behind, what is
 * between is left out, so that a flood costs little and its newest lines are still there to see.
 */
export interface LogRate {
  linesPerSecond: number
  bytesPerSecond: number
  /** A file that was quiet may be read this much faster for once. */
  burstSeconds: number
  /** How far behind a file may be at this rate before a part of it is left out. */
  maxLagSeconds: number
}

/** Of one instance or build: 170 million lines a day, far more than anybody reads, and 1 % of what one core takes in. */
export const DEFAULT_LOG_RATE: LogRate = { linesPerSecond: 2000, bytesPerSecond: 1024 * 1024, burstSeconds: 10, maxLagSeconds: 5 }

/** How much may be read of one file now. May be below nothing: what was read too much is saved later. */
export interface Allowance {
  lines: number
  bytes: number
  at: number
  /** Of the lines read lately. */
  lineBytes: number
}

const TYPICAL_LINE_BYTES = 100

/** That of a file not read before. */
export const fullAllowance = (rate: LogRate, now: number): Allowance => ({
  lines: rate.linesPerSecond * rate.burstSeconds,
  bytes: rate.bytesPerSecond * rate.burstSeconds,
  at: now,
  lineBytes: TYPICAL_LINE_BYTES,
})

/** The allowance after the time since it was last looked at. */
export function refilled(allowance: Allowance, rate: LogRate, now: number): Allowance {
  const seconds = Math.max(0, now - allowance.at) / 1000
  const full = fullAllowance(rate, now)
  return {
    ...allowance,
    lines: Math.min(full.lines, allowance.lines + seconds * rate.linesPerSecond),
    bytes: Math.min(full.bytes, allowance.bytes + seconds * rate.bytesPerSecond),
    at: now,
  }
}

/** The allowance after lines were read. */
export function spent(allowance: Allowance, read: { lines: number; bytes: number }): Allowance {
  const lineBytes = read.lines === 0 ? allowance.lineBytes : read.bytes / read.lines
  return { ...allowance, lines: allowance.lines - read.lines, bytes: allowance.bytes - read.bytes, lineBytes }
}

/** How many bytes may be read now, as far as can be told from the length of the lines before. */
export const readableBytes = ({ lines, bytes, lineBytes }: Allowance): number => Math.floor(Math.min(bytes, lines * lineBytes))

/** How many bytes behind a file may be before a part is left out. */
export const maxUnread = ({ lineBytes }: Allowance, rate: LogRate): number =>
  Math.ceil((rate.burstSeconds + rate.maxLagSeconds) * Math.min(rate.bytesPerSecond, rate.linesPerSecond * lineBytes))

/** How many bytes are kept of it then: what is read within the time it may be behind. */
export const keptBytes = ({ lineBytes }: Allowance, rate: LogRate): number =>
  Math.ceil(rate.maxLagSeconds * Math.min(rate.bytesPerSecond, rate.linesPerSecond * lineBytes))
