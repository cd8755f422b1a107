const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How finely samples are kept and for how long; each level is made from the one before it. */
export interface Level {
  /** Length of a window. Windows begin at multiples of it since 1970. */
  stepSeconds: number
  keptSeconds: number
  /** How often its windows are made; until then they are computed from the finer level when they are asked for. */
  madeEverySeconds: number
  /** Whether it holds services as a whole only: each deploy brings new instances, and nobody asks for those of long ago. */
  isByServiceOnly: boolean
}

export const fineLevel: Level = { stepSeconds: 10, keptSeconds: HOUR, madeEverySeconds: 10, isByServiceOnly: false }

/** The finest first. */
export const levels: readonly Level[] = [
  fineLevel,
  { stepSeconds: MINUTE, keptSeconds: 48 * HOUR, madeEverySeconds: 10 * MINUTE, isByServiceOnly: false },
  { stepSeconds: HOUR, keptSeconds: 30 * DAY, madeEverySeconds: HOUR, isByServiceOnly: false },
  { stepSeconds: DAY, keptSeconds: 395 * DAY, madeEverySeconds: DAY, isByServiceOnly: true },
]

/** The level that another is made from. */
export const finerThan = (level: Level): Level | undefined => levels[levels.indexOf(level) - 1]

/** The multiple of `step` at or before a time. */
export const floorTo = (seconds: number, step: number): number => Math.floor(seconds / step) * step
/** The multiple of `step` at or after a time. */
export const ceilTo = (seconds: number, step: number): number => Math.ceil(seconds / step) * step
