import type { RequestLabels } from './line.ts'

export type RequestLabel = keyof RequestLabels

export const requestLabels: readonly RequestLabel[] = ['host', 'method', 'statusCode', 'path']

export interface LabelTest {
  label: RequestLabel
  patterns: readonly string[]
}

const inUse: Record<RequestLabel, (pattern: string) => string> = {
  host: (pattern) => pattern.toLowerCase(),
  method: (pattern) => pattern.toUpperCase(),
  statusCode: (pattern) => pattern,
  path: (pattern) => pattern,
}

export const compileLabel = (label: RequestLabel, patterns: readonly string[]): LabelTest => ({
  label,
  patterns: patterns.map(inUse[label]),
})

export function holdsLabel(labels: RequestLabels | undefined, { label, patterns }: LabelTest): boolean {
  const value = labels?.[label]
  return value !== undefined && patterns.some((pattern) => isLike(value, pattern))
}

/** Takes each part between two `*` where it first occurs: no pattern can make that slow. */
function isLike(value: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return value === first
  if (!value.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = value.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return value.length - last.length >= at && value.endsWith(last)
}
