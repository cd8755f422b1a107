export interface Entry {
  name: string
  usedAt: number
}

const ENTRY = /^([a-z]+)-(\d[\w.+-]*)$/

export const INCOMING = 'incoming-'

export const isEntryName = (name: string): boolean => ENTRY.test(name) && !name.startsWith(INCOMING)

export const toolOf = ({ name }: Entry): string => ENTRY.exec(name)?.[1] ?? name

const titles: Readonly<Record<string, string>> = { node: 'Node.js', go: 'Go', python: 'Python' }

/** For people, who need no hash that is part of a version. */
export const titleOf = (name: string): string =>
  name.replace(ENTRY, (_, tool, version) => `${titles[tool] ?? tool} ${version.split('+')[0]}`)

interface Uses {
  named: ReadonlySet<string>
  now: number
}

/** A build stands on what it was given though no release names it yet. None takes longer than a day (CP_BUILD_TIMEOUT_SECONDS). */
const KEPT_MS = 25 * 3_600_000

interface Standing extends Omit<Uses, 'named'> {
  named: ReadonlySet<string> | undefined
  isHeld(name: string): boolean
}

/** A build that has ended has its release named within that. */
const SETTLING_MS = 60_000

/** Entries that may go at once to make room, the one unused for longest first. */
export function spareEntries(entries: readonly Entry[], { named, isHeld, now }: Standing): Entry[] {
  if (named === undefined) return []
  const spare = entries.filter(({ name, usedAt }) => now - usedAt > SETTLING_MS && !named.has(name) && !isHeld(name))
  return spare.sort((a, b) => a.usedAt - b.usedAt)
}

/** Entries that nobody needs, the one unused for longest first. The newest used of each tool stays: it is what the next app is likely to want. */
export function unusedEntries(entries: readonly Entry[], { named, now }: Uses): Entry[] {
  const oldestFirst = [...entries].sort((a, b) => a.usedAt - b.usedAt)
  const newest = new Map(oldestFirst.map((entry) => [toolOf(entry), entry]))
  return oldestFirst.filter((entry) => now - entry.usedAt > KEPT_MS && !named.has(entry.name) && newest.get(toolOf(entry)) !== entry)
}
