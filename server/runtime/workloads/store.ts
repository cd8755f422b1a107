import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import { type End, endReasons } from '../../engines/port/end.ts'
import type { Replica } from '../../engines/port/sets.ts'
import type { Codec } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'
import { tableOf } from '../../platform/db/table.ts'

export interface WorkloadExit extends End {
  at: number
  reason?: string
}

export interface StoredWorkload extends Replica {
  ownerKind: string
  ownerId: string
  purpose: string
  node: string
  /** The engine's records in which it was started last; null when that is not known. */
  epoch: string | null
  spec: Record<string, unknown>
  exits: WorkloadExit[]
  startAt: number
  startedAt: number | null
  createdAt: number
}

const storedExits = json({
  schema: Type.Array(
    Type.Object({
      at: Type.Number(),
      exitCode: Type.Union([Type.Number(), Type.Null()]),
      signal: Type.Union([Type.String(), Type.Null()]),
      why: Type.Optional(Type.Union(endReasons.map((reason) => Type.Literal(reason)))),
      /** Earlier versions wrote this alone, and read it when an upgrade was taken back. */
      oomKilled: Type.Optional(Type.Boolean()),
      reason: Type.Optional(Type.String()),
    }),
  ),
})

export const exitsColumn: Codec<WorkloadExit[]> = {
  read: (stored) => storedExits.read(stored).map(({ oomKilled, ...exit }) => (oomKilled ? { why: 'out_of_memory', ...exit } : exit)),
  write: (exits) => storedExits.write(exits.map((exit) => ({ ...exit, oomKilled: exit.why === 'out_of_memory' }))),
}

const workloads = tableOf<StoredWorkload>('workloads', {
  id: 'id',
  setId: 'set_id',
  ownerKind: 'owner_kind',
  ownerId: 'owner_id',
  purpose: 'purpose',
  node: 'node',
  epoch: 'epoch',
  spec: { column: 'spec', as: json({ schema: Type.Record(Type.String(), Type.Unknown()) }) },
  phase: 'phase',
  restarts: 'restarts',
  exits: { column: 'exits', as: exitsColumn },
  startAt: 'start_at',
  address: 'address',
  port: 'port',
  frozenAt: 'frozen_at',
  startedAt: 'started_at',
  createdAt: 'created_at',
})

export type NewWorkload = Pick<StoredWorkload, 'id' | 'ownerKind' | 'ownerId' | 'purpose' | 'createdAt'> &
  Partial<Pick<StoredWorkload, 'setId' | 'phase' | 'port' | 'spec' | 'startedAt'>>

/** Writes down that something is to run, due at once. */
export function insertWorkload(db: Database, workload: NewWorkload): void {
  workloads.insert(db, { startAt: workload.createdAt, ...workload })
}

/** A workload by id, or undefined when it is gone. */
export const workloadById = (db: Database, id: string): StoredWorkload | undefined => workloads.get(db, 'WHERE id = $id', { id })

/** Replicas of a set, oldest first. */
export const workloadsOfSet = (db: Database, setId: string): StoredWorkload[] =>
  workloads.all(db, 'WHERE set_id = $setId ORDER BY created_at, id', { setId })

/** All workloads, oldest first. */
export const allWorkloads = (db: Database): StoredWorkload[] => workloads.all(db, 'ORDER BY created_at, id')

/** All workloads of an owner, oldest first. */
export const workloadsOf = (db: Database, ownerKind: string, ownerId: string): StoredWorkload[] =>
  workloads.all(db, 'WHERE owner_id = $ownerId AND owner_kind = $ownerKind ORDER BY created_at, id', { ownerKind, ownerId })

/** All workloads of any owner that are this to it, oldest first. */
export const workloadsFor = (db: Database, purpose: string): StoredWorkload[] =>
  workloads.all(db, 'WHERE purpose = $purpose ORDER BY created_at, id', { purpose })

/** Whether there are workloads of anybody. */
export const hasWorkloads = (db: Database): boolean => db.query('SELECT 1 FROM workloads LIMIT 1').get() !== null

export type WorkloadChange = Partial<
  Pick<StoredWorkload, 'phase' | 'epoch' | 'restarts' | 'exits' | 'startAt' | 'address' | 'port' | 'frozenAt' | 'startedAt'>
>

/** Changes what is named and nothing else; nothing when it is gone. */
export function updateWorkload(db: Database, id: string, change: WorkloadChange): void {
  workloads.update(db, { id }, change)
}

/** Takes an endpoint from whoever has it in the table. */
export function leaveEndpoint(db: Database, endpoint: Pick<StoredWorkload, 'node' | 'address' | 'port'>): void {
  workloads.update(db, endpoint, { address: null })
}

/** Changes a workload that is in `phase` still. Returns whether it was. */
export const moveWorkload = (db: Database, { id, phase }: Pick<StoredWorkload, 'id' | 'phase'>, change: WorkloadChange): boolean =>
  workloads.update(db, { id, phase }, change) > 0

/** Forgets a workload, and gives its port free. The engine must have removed it before. */
export function deleteWorkload(db: Database, id: string): void {
  workloads.remove(db, { id })
}

/** Forgets all workloads of an owner that is gone. */
export function deleteWorkloadsOf(db: Database, ownerKind: string, ownerId: string): void {
  workloads.remove(db, { ownerKind, ownerId })
}
