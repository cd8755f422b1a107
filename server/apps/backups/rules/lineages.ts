import type { FormerLineage } from '../rows/set-store.ts'

export interface Lineages {
  lineage: number
  version: string
  former: readonly FormerLineage[]
}

export const versionIn = ({ lineage, version, former }: Lineages, of: number): string =>
  of === lineage ? version : (former.find((one) => one.lineage === of)?.version ?? version)

/** All lineages, oldest first. The one that goes on has no end of its own. */
export const lineagesOf = ({ lineage, version, former }: Lineages): { lineage: number; version: string; until?: number }[] => [
  ...former.toSorted((one, other) => one.lineage - other.lineage),
  { lineage, version },
]

export function continued(known: Lineages, today: { lineage: number; version: string; since: number }): Lineages | undefined {
  const { lineage, version, since } = today
  if (lineage === known.lineage) return undefined
  return { lineage, version, former: [...known.former, { lineage: known.lineage, version: known.version, until: since }] }
}
