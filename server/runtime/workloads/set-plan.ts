/** How many replicas a set lacks and which it has too many, decided from its rows. */
import type { WorkloadPolicy } from './owner.ts'
import type { StoredSet } from './set-store.ts'
import type { StoredWorkload } from './store.ts'

export interface SetSituation {
  set: Pick<StoredSet, 'replicas' | 'isFrozen' | 'isDropped'>
  replicas: readonly StoredWorkload[]
  policy: WorkloadPolicy
  isHeld: boolean
  /** Undefined where replicas may be beside each other; else all that the owner has for this purpose. */
  exclusiveAmong: readonly StoredWorkload[] | undefined
}

export interface SetShape {
  missing: number
  surplus: StoredWorkload[]
  isWaiting: boolean
}

export function planShape(situation: SetSituation): SetShape {
  const { set, replicas, policy } = situation
  const active = replicas.filter(isActive)
  const wanted = set.isDropped ? 0 : set.replicas
  const surplus = leastUseful(active).slice(0, Math.max(0, active.length - wanted))
  // What is never restarted is not replaced either.
  const counted = policy.restarts === 'never' ? replicas : active
  const lacking = set.isFrozen ? 0 : Math.max(0, wanted - counted.length)
  const missing = Math.min(lacking, roomFor(situation))
  return { missing, surplus, isWaiting: missing < lacking }
}

function roomFor({ isHeld, exclusiveAmong }: SetSituation): number {
  if (isHeld) return 0
  if (exclusiveAmong === undefined) return Number.POSITIVE_INFINITY
  return exclusiveAmong.length === 0 ? 1 : 0
}

export function mayBegin({ set, isHeld, exclusiveAmong }: SetSituation, workload: StoredWorkload): boolean {
  if (set.isFrozen || workload.frozenAt !== null || isHeld) return false
  if (exclusiveAmong === undefined) return true
  const first = exclusiveAmong.find(({ phase }) => phase === 'pending')
  return first?.id === workload.id && exclusiveAmong.every(({ phase }) => phase === 'pending')
}

export const isActive = ({ phase }: Pick<StoredWorkload, 'phase'>): boolean => phase !== 'stopping' && phase !== 'ended'

const usefulness: Record<StoredWorkload['phase'], number> = { ended: 0, stopping: 0, pending: 1, starting: 2, running: 3 }

const leastUseful = (workloads: readonly StoredWorkload[]): StoredWorkload[] =>
  workloads.toReversed().toSorted((a, b) => usefulness[a.phase] - usefulness[b.phase] || b.createdAt - a.createdAt)
