import { isId } from '../../shared/id.ts'
import type { Log, LogLabel } from '../../shared/log.ts'
import type { Paint } from '../terminal/paint.ts'
import { cleanText } from '../terminal/text.ts'

const INSTANCE_SUFFIX_CHARS = 5

export const labelOf = (log: Log, name: LogLabel): string | undefined => log.labels.find((label) => label.name === name)?.value

/** The type of a line, and for what the platform remarks the type of the lines that it stands among. */
export function storyOf(log: Log): string | undefined {
  const type = labelOf(log, 'type')
  if (type !== 'platform') return type
  return isId('deploy', labelOf(log, 'instance') ?? '') ? 'build' : 'app'
}

/** One line of a log for people: time, where it comes from, text. */
export function formatLog(log: Log, paint: Paint): string {
  const type = storyOf(log) ?? '-'
  const source = type === 'build' ? type : (labelOf(log, 'instance')?.slice(-INSTANCE_SUFFIX_CHARS) ?? type)
  return `${paint.dim(cleanText(log.timestamp))} ${paint.cyan(cleanText(source).padEnd(INSTANCE_SUFFIX_CHARS))} ${coloured(log, paint)}`
}

function coloured(log: Log, paint: Paint): string {
  const text = cleanText(log.message)
  switch (labelOf(log, 'level')) {
    case 'error':
    case 'critical':
    case 'alert':
    case 'emergency':
      return paint.red(text)
    case 'warning':
      return paint.yellow(text)
    case 'debug':
      return paint.dim(text)
    default:
      return text
  }
}
