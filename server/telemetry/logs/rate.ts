/** A writer beyond its rate is read at that rate; too far behind, what is between is left out: a flood costs little, its newest lines are seen. */
export interface LogRate {
  linesPerSecond: number
  bytesPerSecond: number
  burstSeconds: number
  maxLagSeconds: number
}

/** One instance or build may write 170 million lines a day, which is 1 % of what one core takes in. */
export const DEFAULT_LOG_RATE: LogRate = { linesPerSecond: 2000, bytesPerSecond: 1024 * 1024, burstSeconds: 10, maxLagSeconds: 5 }

/** How much may be read of one file now. May be below nothing: what was read too much is saved later. */
export interface Allowance {
  lines: number
  bytes: number
  at: number
  lineBytes: number
}

const TYPICAL_LINE_BYTES = 100

export const fullAllowance = (rate: LogRate, now: number): Allowance => ({
  lines: rate.linesPerSecond * rate.burstSeconds,
  bytes: rate.bytesPerSecond * rate.burstSeconds,
  at: now,
  lineBytes: TYPICAL_LINE_BYTES,
})

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

export function spent(allowance: Allowance, read: { lines: number; bytes: number }): Allowance {
  const lineBytes = read.lines === 0 ? allowance.lineBytes : read.bytes / read.lines
  return { ...allowance, lines: allowance.lines - read.lines, bytes: allowance.bytes - read.bytes, lineBytes }
}

export const readableBytes = ({ lines, bytes, lineBytes }: Allowance): number => Math.floor(Math.min(bytes, lines * lineBytes))

export const maxUnread = ({ lineBytes }: Allowance, rate: LogRate): number =>
  Math.ceil((rate.burstSeconds + rate.maxLagSeconds) * Math.min(rate.bytesPerSecond, rate.linesPerSecond * lineBytes))

export const keptBytes = ({ lineBytes }: Allowance, rate: LogRate): number =>
  Math.ceil(rate.maxLagSeconds * Math.min(rate.bytesPerSecond, rate.linesPerSecond * lineBytes))
