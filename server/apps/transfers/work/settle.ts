import type { DatastoreEventType } from '../../../../shared/event.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { AppContext } from '../../context.ts'
import { nameOfDatastore } from '../../datastores/store.ts'
import { recordEvent } from '../../events/store.ts'
import { type StoredTransfer, transferById, updateTransfer } from '../rows/store.ts'
import { fileOf } from './folders.ts'

export type Outcome =
  | { status: 'succeeded'; change: Partial<StoredTransfer> }
  | { status: 'failed'; reason: string }
  | { status: 'canceled' }

/** Writes down how a transfer ended. What is of no use any more goes first. */
export async function settle(context: AppContext, transfer: StoredTransfer, outcome: Outcome): Promise<void> {
  const { db, paths, now } = context
  const isKept = transfer.kind === 'export' && outcome.status === 'succeeded'
  if (!isKept) await removeTree(fileOf(paths, transfer))
  inOneChange(db, () => {
    const { status } = transferById(db, transfer.id) ?? {}
    if (status === undefined || status === 'removing') return
    const reason = outcome.status === 'failed' ? outcome.reason : null
    const change = outcome.status === 'succeeded' ? outcome.change : {}
    updateTransfer(db, transfer.id, { ...change, status: outcome.status, reason, completedAt: now(), sourceSealed: null })
    if (outcome.status !== 'canceled') tell(context, transfer, outcome)
  })
}

/** What the tools said may hold data, and events are read by more people: the transfer itself tells why it failed. */
function tell({ db, now }: AppContext, { id, kind, datastoreId, workspaceId, sourceHost }: StoredTransfer, outcome: Outcome): void {
  const types: Record<string, DatastoreEventType> =
    kind === 'export'
      ? { succeeded: 'postgres_export_completed', failed: 'postgres_export_failed' }
      : { succeeded: 'postgres_import_completed', failed: 'postgres_import_failed' }
  const type = types[outcome.status]
  const size = outcome.status === 'succeeded' && outcome.change.sizeBytes != null ? { sizeBytes: outcome.change.sizeBytes } : {}
  const details = { name: nameOfDatastore(db, datastoreId) ?? datastoreId, id, ...(sourceHost !== null && { from: sourceHost }), ...size }
  if (type !== undefined) recordEvent(db, { owner: { id: datastoreId, workspaceId }, type, details, now: now() })
}
