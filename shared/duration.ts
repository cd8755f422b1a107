const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Milliseconds of a duration such as `90s`, `5m`, `2h`, `7d` or `1h30m`; undefined when it is not one. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,6}[smhdw])+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * (unitMs[unit ?? ''] ?? 0), 0)
}
