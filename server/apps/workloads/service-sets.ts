/** The sets of a service: one for each deploy and generation of which something runs or is to run. */
import type { DesiredSet, KnownSet, SetOwner } from '../../engines/port/sets.ts'
import type { StoredWorkload } from '../../runtime/workloads/store.ts'
import { INSTANCE } from './instance-store.ts'
import { releaseSpecOf } from './release-spec.ts'

export interface InstanceSet {
  deployId: string
  generation: number
}

export interface ServiceSet extends InstanceSet {
  replicas: number
  isFrozen: boolean
  isDropped: boolean
}

export const setIdOf = ({ deployId, generation }: InstanceSet): string => `${deployId}.${generation}`

export const setOwnerOf = (serviceId: string): SetOwner => ({ ownerKind: INSTANCE.ownerKind, ownerId: serviceId })

export const desiredSet = (
  { serviceId, releaseId, replicas }: { serviceId: string; releaseId: string; replicas: number },
  { deployId, generation }: InstanceSet,
): DesiredSet => ({
  ...INSTANCE,
  id: setIdOf({ deployId, generation }),
  ownerId: serviceId,
  spec: { deployId, releaseId, generation },
  replicas,
})

export const instanceSetsIn = (sets: readonly KnownSet[]): ServiceSet[] =>
  sets
    .filter(({ purpose }) => purpose === INSTANCE.purpose)
    .map(({ id, spec, replicas, isFrozen, isDropped }) => {
      const { deployId, generation } = instanceSpecOf({ id, spec })
      return { deployId, generation, replicas, isFrozen, isDropped }
    })

/** @throws Error when it is none of an instance. */
export function instanceSpecOf(given: Pick<StoredWorkload, 'id' | 'spec'>): InstanceSet & { releaseId: string } {
  const { generation } = given.spec
  if (typeof generation !== 'number') throw new Error(`Workload ${given.id} says no generation`)
  return { ...releaseSpecOf(given), generation }
}
