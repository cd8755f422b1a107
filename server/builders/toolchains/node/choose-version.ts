export type VersionWish = { kind: 'range'; range: string } | { kind: 'lts' | 'newest' | 'default' }

/** Major versions by the code name of their long-term support, as https://nodejs.org/dist/index.json has them. */
const ltsMajors: Readonly<Record<string, string>> = {
  argon: '4',
  boron: '6',
  carbon: '8',
  dubnium: '10',
  erbium: '12',
  fermium: '14',
  gallium: '16',
  hydrogen: '18',
  iron: '20',
  jod: '22',
  krypton: '24',
}

/** What stands in a file of one version, or in `engines`; undefined for words that mean no version. */
export function parseWish(wanted: string): VersionWish | undefined {
  const words = wanted.trim().toLowerCase()
  if (['', '*', 'x'].includes(words)) return { kind: 'default' }
  if (['node', 'stable', 'latest', 'current'].includes(words)) return { kind: 'newest' }
  if (words === 'lts/*' || words === 'lts') return { kind: 'lts' }
  const major = ltsMajors[words.replace(/^lts\//, '')]
  if (major !== undefined) return { kind: 'range', range: major }
  return /^[\d.\sx*<>=^~|v-]*\d[\d.\sx*<>=^~|v-]*$/.test(words) ? { kind: 'range', range: words } : undefined
}

/** The newest that fits. Even majors go before odd ones, which nobody mends for longer than half a year. */
export function chooseVersion(wish: VersionWish, versions: readonly string[], now: number): string | undefined {
  const fitting = versions.filter((version) => fits(wish, version, now)).sort(Bun.semver.order)
  return (wish.kind === 'newest' ? undefined : fitting.findLast(isEven)) ?? fitting.at(-1)
}

export function fits(wish: VersionWish, version: string, now: number): boolean {
  if (wish.kind === 'range') return Bun.semver.satisfies(version, wish.range)
  return wish.kind !== 'lts' || (isEven(version) && now >= longTermSince(majorOf(version)))
}

const majorOf = (version: string): number => Number.parseInt(version, 10)
const isEven = (version: string): boolean => majorOf(version) % 2 === 0

/** An even major of April is supported for long from the end of October on: 20 came in 2023 (https://github.com/nodejs/release#release-schedule). */
const longTermSince = (major: number): number => Date.UTC(2013 + major / 2, 9, 28)

/** Whether a wish leaves no choice, so that nobody has to be asked what there is. */
export const exactVersion = (wish: VersionWish): string | undefined =>
  wish.kind === 'range' ? /^[v=]*\s*(\d+\.\d+\.\d+)$/.exec(wish.range)?.[1] : undefined

/** The newest below and the oldest above what a wish names first, where nothing fits. */
export function nearestVersions(wish: VersionWish, versions: readonly string[]): string[] {
  const named = wish.kind === 'range' ? /\d+(\.\d+){0,2}/.exec(wish.range)?.[0] : undefined
  const sorted = [...versions].sort(Bun.semver.order)
  if (named === undefined) return sorted.slice(-1)
  const [major, minor = '0', patch = '0'] = named.split('.')
  const from = `${major}.${minor}.${patch}`
  const above = sorted.findIndex((version) => Bun.semver.order(version, from) >= 0)
  return (above < 0 ? sorted.slice(-1) : sorted.slice(Math.max(0, above - 1), above + 1)).filter(Boolean)
}
