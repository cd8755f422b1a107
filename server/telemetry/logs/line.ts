import { type LogLabel, type LogLevel, type LogType, logLevels } from '../../../shared/log.ts'

export type RequestLabels = Partial<Record<Exclude<LogLabel, 'resource' | 'instance' | 'level' | 'type'>, string>>

export interface NewLogLine {
  timestampMs: number
  resource: string
  /** Id of the running instance, or '' where there is none (a build). */
  instance: string
  deployId?: string
  type: LogType
  level: LogLevel
  message: string
  labels?: RequestLabels
}

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

export const levelNamed = (word: string): LogLevel | undefined => {
  const lower = word.toLowerCase()
  return Object.hasOwn(aliases, lower) ? aliases[lower] : undefined
}
