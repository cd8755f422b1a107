import type { Database } from 'bun:sqlite'
import { flag } from '../../platform/db/codec.ts'
import { tableOf } from '../../platform/db/table.ts'
import { exitsColumn, updateWorkload, type WorkloadExit } from '../../runtime/workloads/store.ts'

/** `pending` waits to start, also after it died; `starting` is not known to be healthy, `ready` is; `serving` is in the routes, `draining` on its way out. */
export type InstancePhase = 'pending' | 'starting' | 'ready' | 'serving' | 'draining'

export type InstanceExit = WorkloadExit

export interface StoredInstance {
  id: string
  serviceId: string
  deployId: string
  releaseId: string
  generation: number
  address: string | null
  /** Where it listens, or is expected to while it does not run: its engine may choose otherwise, and so may the app. */
  port: number
  ownPort: number | null
  misplaced: string | null
  phase: InstancePhase
  restarts: number
  exits: InstanceExit[]
  startAt: number
  drainingAt: number | null
  frozenAt: number | null
  startedAt: number | null
  createdAt: number
}

const instances = tableOf<StoredInstance>('instances', {
  id: 'id',
  serviceId: 'service_id',
  deployId: 'deploy_id',
  releaseId: 'release_id',
  generation: 'generation',
  address: 'address',
  port: 'port',
  ownPort: 'own_port',
  misplaced: 'misplaced',
  phase: 'phase',
  restarts: 'restarts',
  exits: { column: 'exits', as: exitsColumn },
  startAt: 'start_at',
  drainingAt: 'draining_at',
  frozenAt: 'frozen_at',
  startedAt: 'started_at',
  createdAt: 'created_at',
})

interface ServiceInstance extends Pick<StoredInstance, 'id' | 'deployId' | 'releaseId' | 'generation' | 'ownPort' | 'misplaced'> {
  isServing: boolean
  drainingAt: number | null
}

const serviceInstances = tableOf<ServiceInstance>('service_instances', {
  id: 'id',
  deployId: 'deploy_id',
  releaseId: 'release_id',
  generation: 'generation',
  ownPort: 'own_port',
  misplaced: 'misplaced',
  isServing: { column: 'is_serving', as: flag },
  drainingAt: 'draining_at',
})

/** What instances are among the workloads of a service. */
export const INSTANCE = { ownerKind: 'service', purpose: 'instance' } as const

export interface NewInstance extends Pick<StoredInstance, 'id' | 'deployId' | 'releaseId' | 'generation' | 'ownPort'> {
  port: number
}

/** Writes down what a service knows of a workload that is an instance of it. */
export function insertInstance(db: Database, { id, port, ...own }: NewInstance): void {
  updateWorkload(db, id, { port })
  serviceInstances.insert(db, { id, ...own })
}

/** An instance by id, or undefined when it is gone. */
export const instanceById = (db: Database, id: string): StoredInstance | undefined => instances.get(db, 'WHERE id = $id', { id })

/** Instances of a service, oldest first. */
export const instancesOf = (db: Database, serviceId: string): StoredInstance[] =>
  instances.all(db, 'WHERE service_id = $serviceId ORDER BY created_at, id', { serviceId })

/** The port at which healthy instances of a release are reached; undefined while there are none. */
export const portOfRelease = (db: Database, releaseId: string): number | undefined =>
  db
    .query<{ port: number }, [string]>(`SELECT port FROM instances WHERE release_id = ? AND phase IN ('ready', 'serving') LIMIT 1`)
    .get(releaseId)?.port

/** Lets no instance of a service that waits for its start be started before then. */
export function holdBackInstances(db: Database, serviceId: string, until: number): void {
  for (const { id, phase, startAt } of instancesOf(db, serviceId))
    if (phase === 'pending') updateWorkload(db, id, { startAt: Math.max(startAt, until) })
}

export type InstanceChange = Partial<Pick<ServiceInstance, 'isServing' | 'misplaced' | 'drainingAt'> & { port: number }>

/** Changes what is named and nothing else; nothing when the instance is gone. */
export function updateInstance(db: Database, id: string, { port, ...own }: InstanceChange): void {
  db.transaction(() => {
    if (port !== undefined) updateWorkload(db, id, { port })
    serviceInstances.update(db, { id }, own)
  })()
}
