import { usageError } from '../base/error.ts'

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const relative = /^(\d+(?:\.\d+)?)\s*(s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?|d|days?)(?:\s+ago)?$/i

/** A moment as people say it: "5 minutes ago", 90s, or a time with its zone. Returns it in ISO 8601. @throws CliError for what is none. */
export function momentIn(text: string, now: number): string {
  const [, amount, unit = ''] = relative.exec(text.trim()) ?? []
  if (amount !== undefined) return new Date(now - Number(amount) * (unitMs[unit.charAt(0).toLowerCase()] ?? 0)).toISOString()
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return new Date(at).toISOString()
  throw usageError(`"${text}" is no moment. Say how long ago, such as "5 minutes ago", or a time, such as 2026-11-20T10:15:00Z.`)
}
