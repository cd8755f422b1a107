const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface Level {
  stepSeconds: number
  keptSeconds: number
  madeEverySeconds: number
  /** Whether a level holds services as a whole only: each deploy brings new instances, and nobody asks for those of long ago. */
  isByServiceOnly: boolean
}

export const fineLevel: Level = { stepSeconds: 10, keptSeconds: HOUR, madeEverySeconds: 10, isByServiceOnly: false }

export const levels: readonly Level[] = [
  fineLevel,
  { stepSeconds: MINUTE, keptSeconds: 48 * HOUR, madeEverySeconds: 10 * MINUTE, isByServiceOnly: false },
  { stepSeconds: HOUR, keptSeconds: 30 * DAY, madeEverySeconds: HOUR, isByServiceOnly: false },
  { stepSeconds: DAY, keptSeconds: 395 * DAY, madeEverySeconds: DAY, isByServiceOnly: true },
]

export const finerThan = (level: Level): Level | undefined => levels[levels.indexOf(level) - 1]

export const floorTo = (seconds: number, step: number): number => Math.floor(seconds / step) * step
export const ceilTo = (seconds: number, step: number): number => Math.ceil(seconds / step) * step
