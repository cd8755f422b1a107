import type { Event } from '../../shared/event.ts'
import type { Paint } from '../terminal/paint.ts'
import { cleanText } from '../terminal/text.ts'

export function formatEvent({ timestamp, serviceName, serviceId, type, details }: Event, paint: Paint): string {
  const about = cleanText(serviceName ?? serviceId ?? '-')
  const colour = isBad(type, details) ? paint.red : paint.bold
  return [paint.dim(cleanText(timestamp)), paint.cyan(about), colour(cleanText(type)), cleanText(detailsText(details))].join(' ').trimEnd()
}

export const detailsText = (details: Record<string, unknown>): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')

const isBad = (type: string, { status }: Record<string, unknown>): boolean =>
  /_(failed|reverted|unavailable|unreachable|unhealthy|damaged|full|stale)$/.test(type) ||
  (typeof status === 'string' && /failed$|^unsuccessful$/.test(status))
