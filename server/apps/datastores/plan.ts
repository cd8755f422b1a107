/** What is to be done about one datastore, out of its row and what runs of it. Whoever does it may die anywhere, and asks again. */
import type { KnownSet, Replica } from '../../engines/port/sets.ts'
import type { VolumeCapabilities } from '../../engines/port/volumes.ts'
import type { StoredDatastore } from './store.ts'

export interface DatastoreSituation {
  datastore: Pick<StoredDatastore, 'id' | 'phase' | 'generation' | 'suspendedBy' | 'growToGb' | 'role' | 'failover' | 'upgrade'>
  sets: readonly Pick<KnownSet, 'id' | 'isDropped'>[]
  replicas: readonly Pick<Replica, 'setId' | 'phase'>[]
  grow: VolumeCapabilities['grow']
  followers: number
}

export type DatastoreAction =
  | { kind: 'make_volume' }
  | { kind: 'grow_volume' }
  | { kind: 'run'; setId: string }
  | { kind: 'drop'; setId: string }
  | { kind: 'settle' }
  /** Nothing runs of a primary that is exchanged with its standby. */
  | { kind: 'fail_over' }
  | { kind: 'prepare_upgrade' }
  | { kind: 'upgrade' }
  | { kind: 'prepare_removal' }
  | { kind: 'remove' }

/** Each start that differs from the one before is a generation, and a set of its own. */
export const setIdOf = ({ id, generation }: Pick<StoredDatastore, 'id' | 'generation'>): string => `${id}.${generation}`

export function planDatastore(situation: DatastoreSituation): DatastoreAction[] {
  const { datastore, replicas } = situation
  if (datastore.phase === 'deleting') return planRemoval(situation)
  if (datastore.upgrade === 'announced') return [{ kind: 'prepare_upgrade' }]
  const isGrowing = datastore.growToGb !== null
  if (!wantsServer(situation)) return planStill(situation)
  const setId = setIdOf(datastore)
  const isApplied = situation.sets.some((set) => set.id === setId && !set.isDropped)
  const isUp = replicas.some((replica) => replica.setId === setId && replica.phase === 'running')
  const drops = dropsOf(situation, setId)
  return [
    ...drops,
    ...(!isApplied && datastore.phase === 'creating' ? [{ kind: 'make_volume' } as const] : []),
    ...(isApplied ? [] : [{ kind: 'run', setId } as const]),
    ...(isUp && datastore.phase === 'creating' ? [{ kind: 'settle' } as const] : []),
    ...(isGrowing && isApplied && drops.length === 0 ? [{ kind: 'grow_volume' } as const] : []),
  ]
}

/** What is done while its server is not to run. */
function planStill(situation: DatastoreSituation): DatastoreAction[] {
  const { datastore, sets, replicas } = situation
  const drops = dropsOf(situation, undefined)
  if (drops.length > 0 || sets.length + replicas.length > 0) return drops
  if (datastore.upgrade !== null) return [{ kind: 'upgrade' }]
  if (datastore.failover !== null) return datastore.role === 'primary' ? [{ kind: 'fail_over' }] : []
  return datastore.growToGb === null ? [] : makeAndGrow(datastore)
}

/** Whether a server may begin now: one whose disk is to grow waits for that, as it may be what it lacks. */
export const mayBegin = (situation: Pick<DatastoreSituation, 'datastore' | 'grow'>): boolean =>
  wantsServer(situation) && situation.datastore.growToGb === null

/** Whether its server is to run now: volumes that grow only while nothing uses them come first. */
export function wantsServer({ datastore, grow }: Pick<DatastoreSituation, 'datastore' | 'grow'>): boolean {
  const { phase, suspendedBy, growToGb, failover, upgrade } = datastore
  if ((phase !== 'creating' && phase !== 'ready') || suspendedBy !== null) return false
  if (failover !== null || upgrade === 'under_way') return false
  return growToGb === null || (grow === 'online' && phase === 'ready')
}

const makeAndGrow = ({ phase }: DatastoreSituation['datastore']): DatastoreAction[] => [
  ...(phase === 'creating' ? [{ kind: 'make_volume' } as const] : []),
  { kind: 'grow_volume' },
]

function planRemoval(situation: DatastoreSituation): DatastoreAction[] {
  const drops = dropsOf(situation, undefined)
  if (drops.length > 0) return [{ kind: 'prepare_removal' }, ...drops]
  return situation.sets.length + situation.replicas.length + situation.followers > 0
    ? []
    : [{ kind: 'prepare_removal' }, { kind: 'remove' }]
}

const dropsOf = ({ sets }: DatastoreSituation, except: string | undefined): DatastoreAction[] =>
  sets.filter(({ id, isDropped }) => id !== except && !isDropped).map(({ id }) => ({ kind: 'drop', setId: id }))
