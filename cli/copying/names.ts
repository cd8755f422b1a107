/** The parts of two places that tell them apart: `production` and `staging`, or `shop` and `shop-eu`. */
export interface Renaming {
  from: string
  to: string
  chosen: ReadonlyMap<string, string>
}

const PARTS = /([-_. ])/

/** What the copy of something is named: the place it goes to stands for the one it comes from, or is put behind. */
export function nameOfCopy(name: string, { from, to, chosen }: Renaming): string {
  const given = chosen.get(name)
  if (given !== undefined) return given
  const parts = name.split(PARTS)
  return parts.includes(from) ? parts.map((part) => (part === from ? to : part)).join('') : `${name}-${to}`
}
