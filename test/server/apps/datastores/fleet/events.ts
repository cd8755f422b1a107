import { deleteDatastore, restartDatastore, resumeDatastore, suspendDatastore } from '../../../../../server/apps/datastores/operations.ts'
import type { StoredDatastore } from '../../../../../server/apps/datastores/store.ts'
import { changeStore, createStore } from '../../../../../server/apps/key-value/operations.ts'
import { changePostgres } from '../../../../../server/apps/postgres/change.ts'
import { createPostgres } from '../../../../../server/apps/postgres/create.ts'
import { requestFailover } from '../../../../../server/apps/replication/high-availability.ts'
import type { VolumeCall } from '../../../../../server/engines/fake/faults.ts'
import { bytesOf } from '../../../../../shared/disk.ts'
import { AppError } from '../../../../../shared/error.ts'
import type { PostgresPatch } from '../../../../../shared/postgres.ts'
import type { Fleet } from './world.ts'

type Happening = (fleet: Fleet) => void

const MOST_DATASTORES = 4

export function oneOf<T>({ below }: Pick<Fleet, 'below'>, all: readonly T[]): T | undefined {
  return all.length === 0 ? undefined : all[below(all.length)]
}

/** Datastores that people see: standbys are the platform's, and what goes is gone for them. */
export const shown = (fleet: Fleet): StoredDatastore[] =>
  fleet.rows().filter(({ phase, role }) => phase !== 'deleting' && role !== 'standby')

type Kind = StoredDatastore['kind'] | 'guarded'

/** Whether a standby takes the place of a database. */
const isGuarded = (fleet: Fleet, { id }: StoredDatastore): boolean =>
  fleet.rows().some(({ primaryId, role }) => primaryId === id && role === 'standby')

/** Does something to one that people see. */
const withOne =
  (act: (fleet: Fleet, datastore: StoredDatastore) => unknown, kind?: Kind): Happening =>
  (fleet) => {
    const chosen = oneOf(
      fleet,
      shown(fleet).filter((one) => kind === undefined || one.kind === kind || (kind === 'guarded' && isGuarded(fleet, one))),
    )
    if (chosen !== undefined) act(fleet, chosen)
  }

const patch = (make: (fleet: Fleet, datastore: StoredDatastore) => PostgresPatch): Happening =>
  withOne((fleet, datastore) => changePostgres(fleet.context, fleet.actor, { datastore, patch: make(fleet, datastore) }), 'postgres')

let names = 0
const create: Happening = (fleet) => {
  if (shown(fleet).length >= MOST_DATASTORES) return
  const name = `fleet-${++names}`
  if (fleet.below(3) === 0) createStore(fleet.context, fleet.actor, { name, plan: 'free' })
  else
    createPostgres(fleet.context, fleet.actor, {
      ...{ name, plan: 'basic_256mb', enableDiskAutoscaling: fleet.below(2) === 0, enableHighAvailability: fleet.below(2) === 0 },
      ...(fleet.below(3) === 0 && { readReplicas: [{ name: `${name}-reads` }] }),
    })
}

const wishes: readonly Happening[] = [
  create,
  create,
  create,
  withOne((fleet, one) => suspendDatastore(fleet.context, one)),
  withOne((fleet, one) => resumeDatastore(fleet.context, one)),
  withOne((fleet, one) => resumeDatastore(fleet.context, one)),
  withOne((fleet, one) => restartDatastore(fleet.context, one)),
  withOne((fleet, one) => deleteDatastore(fleet.context, one, { isForced: true })),
  withOne((fleet, one) => requestFailover(fleet.context, one), 'guarded'),
  withOne((fleet, one) => requestFailover(fleet.context, one), 'guarded'),
  patch((_, { sizeGb }) => ({ diskSizeGB: sizeGb < 5 ? 5 : sizeGb + 5 })),
  patch((fleet) => ({ plan: fleet.below(2) === 0 ? 'basic_256mb' : 'basic_1gb' })),
  patch((fleet) => ({ enableHighAvailability: fleet.below(3) > 0 })),
  patch((fleet, { name }) => ({ readReplicas: fleet.below(2) === 0 ? [] : [{ name: `${name}-more` }] })),
  withOne(
    (fleet, datastore) =>
      changeStore(fleet.context, fleet.actor, { datastore, patch: { plan: fleet.below(2) === 0 ? 'free' : 'standard' } }),
    'key_value',
  ),
]

const volumeCalls = ['make', 'grow', 'give', 'isInUse', 'remove'] as const satisfies readonly VolumeCall[]
const calls = [
  ...(['start', 'inspect', 'stop', 'remove', 'usage', 'removeOwner', 'readOutput'] as const),
  ...volumeCalls.map((call) => `volumes.${call}` as const),
]
const faults = [{ kind: 'lost' }, { kind: 'refused' }, { kind: 'slow', delayMs: 700 }] as const

const fault =
  (times: number): Happening =>
  (fleet) =>
    fleet.machine.faults.inject(oneOf(fleet, calls) ?? 'start', oneOf(fleet, faults) ?? { kind: 'lost' }, times)

/** What may befall the machine, the way to it, what runs on it, and the control plane. */
const troubles: readonly Happening[] = [
  fault(1),
  fault(1),
  fault(3),
  ({ machine }) => (machine.faults.isPartitioned ? machine.faults.heal() : machine.faults.partition()),
  ({ machine }) => machine.restart({ forgets: false }),
  (fleet) => fleet.machine.crash(oneOf(fleet, fleet.machine.running()) ?? ''),
  (fleet) => fleet.machine.crash(oneOf(fleet, fleet.machine.running()) ?? ''),
  ({ machine }) => machine.reboot(),
  (fleet) => fleet.kill(),
  (fleet) => fleet.kill(),
  withOne(({ broken, machine }, { id, volumeId }) => {
    broken.add(volumeId)
    for (const run of machine.running().filter((runId) => runId.startsWith(`${id}-`))) machine.crash(run)
  }, 'guarded'),
  withOne(({ machine, below }, { volumeId, sizeGb }) => {
    const volume = machine.volumes.get(volumeId)
    if (volume !== undefined) volume.usedBytes = (bytesOf(sizeGb) * below(100)) / 100
  }),
]

/** Has one of these happen. What the platform refuses, people are told of, and nothing comes of it. */
export function happen(fleet: Fleet): void {
  const what = oneOf(fleet, oneOf(fleet, [wishes, wishes, troubles]) ?? [])
  try {
    what?.(fleet)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
  }
}
