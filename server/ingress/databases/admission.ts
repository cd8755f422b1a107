import { type IpRange, isInRanges, parseIpRange } from '../../../shared/ip-address.ts'
import type { DatabaseRoute } from '../tables/database-route.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'

export interface Listed {
  id: string
  route: DatabaseRoute
  allowed: readonly IpRange[]
}

/** Why nobody is let in: `unknown` for what there is not. */
export type Refusal = 'unknown' | 'not_allowed' | 'suspended' | 'unavailable'

export type Admission = { target: ProxyTarget } | { refusal: Refusal }

/** A range that is none lets nobody in. */
export const listed = (id: string, route: DatabaseRoute): Listed => ({
  id,
  route,
  allowed: route.allow.map(parseIpRange).filter((range) => range !== undefined),
})

/** Whom the list leaves out is told of nothing else. */
export function admissionOf(found: Listed | undefined, address: string): Admission {
  if (found === undefined) return { refusal: 'unknown' }
  if (!isInRanges(address, found.allowed)) return { refusal: 'not_allowed' }
  const { state, targets } = found.route
  const [target] = targets
  if (state === 'running' && target !== undefined) return { target }
  return { refusal: state === 'suspended' ? 'suspended' : 'unavailable' }
}
