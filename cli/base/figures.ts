const units: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
]

/** A length of time in its largest fitting unit: `12s`, `5m`, `3d`. */
export function formatAge(ms: number): string {
  const [name, unitMs] = units.find(([, size]) => ms >= size) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / unitMs))}${name}`
}

export const ago = (time: string, now: number): string => `${formatAge(now - Date.parse(time))} ago`

/** How long something took: `840 ms`, `12.3 s`, `2 min 5 s`. */
export function formatTook(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** A size for people, in powers of 1024. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(3, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** power).toFixed(1)} ${['B', 'KB', 'MB', 'GB'][power]}`
}
