/** The writing half of the keeper: rows of sets and of their replicas, in the transaction of the caller. Everything that asks an engine comes after. */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../shared/error.ts'
import type { DesiredSet } from '../../engines/port/sets.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { Keeping } from './keeping.ts'
import { isActive } from './set-plan.ts'
import { insertSet, setById, updateSet } from './set-store.ts'
import { retire, shapeSet } from './shape.ts'
import { workloadById } from './store.ts'

/** @throws AppError `conflict` for another spec under an id that is known. */
export function applySet(keeping: Keeping, { id, ownerKind, ownerId, purpose, spec, replicas }: DesiredSet): void {
  const { db } = keeping
  writeDesire(keeping, id, () => {
    const known = setById(db, id)
    if (known === undefined) {
      insertSet(db, { id, ownerKind, ownerId, purpose, spec, replicas, createdAt: keeping.now() })
      return true
    }
    if (!isDeepStrictEqual(known.spec, spec)) throw new AppError('conflict', `The set ${id} is known with another program`)
    if (known.replicas === replicas && !known.isDropped) return false
    updateSet(db, id, { replicas, isDropped: false })
    return true
  })
}

export function dropSet(keeping: Keeping, id: string): void {
  writeDesire(keeping, id, () => {
    if (setById(keeping.db, id)?.isDropped !== false) return false
    updateSet(keeping.db, id, { isDropped: true, isFrozen: false })
    return true
  })
}

export function freezeSet(keeping: Keeping, id: string, isFrozen: boolean): void {
  writeDesire(keeping, id, () => {
    const known = setById(keeping.db, id)
    if (known === undefined || known.isDropped || known.isFrozen === isFrozen) return false
    updateSet(keeping.db, id, { isFrozen })
    return true
  })
}

export function replaceReplica(keeping: Keeping, replicaId: string): void {
  const setId = workloadById(keeping.db, replicaId)?.setId
  if (setId == null) return
  writeDesire(keeping, setId, () => {
    const workload = workloadById(keeping.db, replicaId)
    if (workload === undefined || !isActive(workload)) return false
    retire(keeping, [workload])
    return true
  })
}

function writeDesire(keeping: Keeping, setId: string, write: () => boolean): void {
  const isChanged = inOneChange(keeping.db, () => {
    const isWritten = write()
    if (isWritten) shapeSet(keeping, setId)
    return isWritten
  })
  if (isChanged) keeping.changed(setId)
}
