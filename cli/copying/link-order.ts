import type { EnvSource } from '../../shared/env.ts'
import type { EnvGroup } from '../../shared/env-group.ts'

interface Won {
  source?: EnvSource
  hides?: readonly EnvSource[]
}

/**
 * The groups of a service in an order of linking that gives what it has now: the later wins. The API does not tell the order itself;
 * what each variable hides tells all of it that makes a difference.
 */
export function linkOrder(groups: readonly EnvGroup[], resolved: readonly Won[]): EnvGroup[] {
  const ranked = resolved.map(({ source, hides = [] }) => [source, ...hides].flatMap((each) => each?.id ?? []))
  const isWeaker = (one: EnvGroup, other: EnvGroup): boolean =>
    ranked.some((ids) => ids.includes(one.id) && ids.indexOf(other.id) !== -1 && ids.indexOf(one.id) > ids.indexOf(other.id))
  const ordered: EnvGroup[] = []
  let left = [...groups]
  while (left.length > 0) {
    const next = left.find((group) => !left.some((other) => isWeaker(other, group))) ?? left[0]
    ordered.push(...left.filter((group) => group === next))
    left = left.filter((group) => group !== next)
  }
  return ordered
}
