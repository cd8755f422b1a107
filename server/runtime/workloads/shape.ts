import { inOneChange } from '../../platform/db/change.ts'
import type { Keeping } from './keeping.ts'
import { planShape, type SetSituation } from './set-plan.ts'
import { type StoredSet, setById } from './set-store.ts'
import { insertWorkload, moveWorkload, type StoredWorkload, workloadById, workloadsOf, workloadsOfSet } from './store.ts'

export function situationOf({ db, ownerOf }: Keeping, set: StoredSet): SetSituation {
  const owner = ownerOf(set)
  return {
    set,
    replicas: workloadsOfSet(db, set.id),
    policy: owner.policy,
    isHeld: owner.isHeld?.(set) ?? false,
    exclusiveAmong: owner.isExclusive?.(set) === true ? workloadsBeside(db, set) : undefined,
  }
}

const workloadsBeside = (db: Keeping['db'], { ownerKind, ownerId, purpose }: StoredSet): StoredWorkload[] =>
  workloadsOf(db, ownerKind, ownerId).filter((workload) => workload.purpose === purpose)

/** Adds the replicas that a set lacks, and sets those that it has too many on their way out. Returns whether rows changed, and more may follow. */
export function shapeSet(keeping: Keeping, setId: string): { isChanged: boolean; isWaiting: boolean } {
  const set = setById(keeping.db, setId)
  if (set === undefined) return { isChanged: false, isWaiting: false }
  const { missing, surplus, isWaiting } = planShape(situationOf(keeping, set))
  const isChanged = missing > 0 || surplus.length > 0
  if (isChanged)
    inOneChange(keeping.db, () => {
      retire(keeping, surplus)
      for (let count = 0; count < missing; count++) addReplica(keeping, set)
    })
  return { isChanged, isWaiting }
}

/** Sets replicas of one owner on their way out; part of a transaction. */
export function retire({ db, ownerOf }: Keeping, workloads: readonly StoredWorkload[]): void {
  const [first] = workloads
  if (first === undefined) return
  ownerOf(first).onStopping?.(workloads)
  for (const workload of workloads) moveWorkload(db, workload, { phase: 'stopping' })
}

function addReplica({ db, ownerOf, now }: Keeping, set: StoredSet): void {
  const owner = ownerOf(set)
  const id = owner.newId(set)
  const { id: setId, ownerKind, ownerId, purpose, spec } = set
  insertWorkload(db, { id, setId, ownerKind, ownerId, purpose, spec, createdAt: now() })
  const workload = workloadById(db, id)
  if (workload !== undefined) owner.onAdded?.(workload)
}
