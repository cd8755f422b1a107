import { type LogLabel, type LogLevel, type LogType, logLevels } from '../../../shared/log.ts'

/** Labels that only request lines carry. */
export type RequestLabels = Partial<Record<Exclude<LogLabel, 'resource' | 'instance' | 'level' | 'type'>, string>>

/** A line as its source hands it in. */
export interface NewLogLine {
  timestampMs: number
  /** Id of the service. */
  resource: string
  /** Id of the running instance, or '' where there is none (a build). */
  instance: string
  deployId?: string
  type: LogType
  level: LogLevel
  message: string
  labels?: RequestLabels
}

/** A line as stored: `seq` and `at` are the store's. */
export interface LogLine extends Omit<NewLogLine, 'timestampMs'> {
  /** Order of arrival over all services; never reused. */
  seq: number
  /** Microseconds since 1970, unlike that of any other line unless the clock was set back. */
  at: number
}

/** Separates messages in stored text, so no message may hold it. */
export const SEPARATOR = '\0'
const REPLACEMENT = '\uFFFD'

/** The message as it can be stored and sent: NUL and lone surrogates become U+FFFD. */
export function cleanMessage(message: string): string {
  const wellFormed = message.isWellFormed() ? message : message.toWellFormed()
  return wellFormed.includes(SEPARATOR) ? wellFormed.replaceAll(SEPARATOR, REPLACEMENT) : wellFormed
}

const aliases: Record<string, LogLevel> = {
  trace: 'debug',
  verbose: 'debug',
  dbg: 'debug',
  information: 'info',
  inf: 'info',
  warn: 'warning',
  wrn: 'warning',
  err: 'error',
  eror: 'error',
  severe: 'error',
  crit: 'critical',
  fatal: 'critical',
  panic: 'critical',
  emerg: 'emergency',
  ...Object.fromEntries(logLevels.map((level) => [level, level])),
}

/** The level a word of any spelling stands for ("WARN", "err"), or undefined when it is none. */
export const levelNamed = (word: string): LogLevel | undefined => {
  const lower = word.toLowerCase()
  return Object.hasOwn(aliases, lower) ? aliases[lower] : undefined
}
