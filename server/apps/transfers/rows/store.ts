import type { Database } from 'bun:sqlite'
import { Type } from '@sinclair/typebox'
import type { TransferStatus } from '../../../../shared/postgres-transfer.ts'
import { flag } from '../../../platform/db/codec.ts'
import { json } from '../../../platform/db/json-column.ts'
import { tableOf } from '../../../platform/db/table.ts'

export type TransferKind = 'export' | 'import'

/** An export of a database, or an import into one. Times are milliseconds since 1970. */
export interface StoredTransfer {
  id: string
  kind: TransferKind
  datastoreId: string
  workspaceId: string
  environmentId: string | null
  number: number
  status: TransferStatus | 'removing'
  isClean: boolean
  /** Connection string of the database that is imported; null for a file. */
  sourceSealed: string | null
  sourceHost: string | null
  skipped: string[]
  sizeBytes: number | null
  sha256: string | null
  reason: string | null
  createdAt: number
  startedAt: number | null
  completedAt: number | null
}

const transfers = tableOf<StoredTransfer>('transfers', {
  id: 'id',
  kind: 'kind',
  datastoreId: 'datastore_id',
  workspaceId: 'workspace_id',
  environmentId: 'environment_id',
  number: 'number',
  status: 'status',
  isClean: { column: 'is_clean', as: flag },
  sourceSealed: 'source_sealed',
  sourceHost: 'source_host',
  skipped: { column: 'skipped', as: json({ schema: Type.Array(Type.String()) }) },
  sizeBytes: 'size_bytes',
  sha256: 'sha256',
  reason: 'reason',
  createdAt: 'created_at',
  startedAt: 'started_at',
  completedAt: 'completed_at',
})

export type NewTransfer = Pick<StoredTransfer, 'id' | 'kind' | 'datastoreId' | 'workspaceId' | 'environmentId' | 'number' | 'createdAt'> &
  Partial<Pick<StoredTransfer, 'isClean' | 'sourceSealed' | 'sourceHost' | 'sizeBytes'>>

/** Writes a transfer down before anything of it is done. */
export function insertTransfer(db: Database, transfer: NewTransfer): void {
  transfers.insert(db, { ...transfer, status: 'waiting' })
}

/** A transfer by id, whosever it is; undefined where there is none. */
export const transferById = (db: Database, id: string): StoredTransfer | undefined => transfers.get(db, 'WHERE id = $id', { id })

/** Transfers of a datastore in every status, newest first. */
export const transfersOf = (db: Database, datastoreId: string): StoredTransfer[] =>
  transfers.all(db, 'WHERE datastore_id = $datastoreId ORDER BY id DESC', { datastoreId })

/** Transfers of a workspace in every status, in no order. */
export const transfersOfWorkspace = (db: Database, workspaceId: string): StoredTransfer[] =>
  transfers.all(db, 'WHERE workspace_id = $workspaceId', { workspaceId })

/** All transfers that there are, in no order. */
export const allTransfers = (db: Database): StoredTransfer[] => transfers.all(db, '')

/** Changes what is named. */
export function updateTransfer(
  db: Database,
  id: string,
  change: Partial<Omit<StoredTransfer, 'id' | 'kind' | 'datastoreId' | 'workspaceId' | 'number'>>,
): void {
  transfers.update(db, { id }, change)
}

/** Forgets a transfer, of which nothing may be left before. */
export function removeTransferRow(db: Database, id: string): void {
  transfers.remove(db, { id })
}
