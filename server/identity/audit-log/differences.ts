import { insideOf, isHidden, masked } from '../audit-chain/mask.ts'

export type Snapshot = Record<string, unknown>

export interface Difference {
  before?: unknown
  after?: unknown
}

const ignored: ReadonlySet<string> = new Set(['updatedAt', 'dashboardUrl'])

export function differencesOf(before: Snapshot, after: Snapshot): Record<string, Difference> {
  const found: Record<string, Difference> = {}
  collect({ before, after, path: [] }, found)
  return found
}

function collect({ before, after, path }: { before: Snapshot; after: Snapshot; path: string[] }, found: Record<string, Difference>): void {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]]
    if (ignored.has(name) || isSame(was, is)) continue
    if (isRecord(was) && isRecord(is)) collect({ before: was, after: is, path: [...path, name] }, found)
    else found[[...path, name].join('.')] = { ...sideOf('before', name, was), ...sideOf('after', name, is) }
  }
}

/** The value is masked under its own name, which may be that of a secret. */
function sideOf(side: keyof Difference, name: string, value: unknown): Difference {
  if (value === undefined) return {}
  return { [side]: (masked({ [name]: value }) as Snapshot)[name] }
}

const isSame = (left: unknown, right: unknown): boolean => textOf(left) === textOf(right)

const textOf = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, held: unknown) => (isHidden(held) ? ['hidden', insideOf(held)] : held))

const isRecord = (value: unknown): value is Snapshot =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isHidden(value)
