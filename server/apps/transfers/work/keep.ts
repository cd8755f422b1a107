import { removeTree } from '../../../platform/files/tree/remove.ts'
import type { AppContext } from '../../context.ts'
import { removeTransferRow, type StoredTransfer } from '../rows/store.ts'
import { expiryOf } from './exports.ts'
import { clearRun, fileOf } from './folders.ts'

/** When a transfer is to be forgotten, in milliseconds since 1970: those that are to be done are not, however long that takes. */
export function due({ status, ...transfer }: StoredTransfer): number {
  return status === 'waiting' || status === 'running' ? Number.POSITIVE_INFINITY : expiryOf(transfer)
}

export async function forget(context: AppContext, transfer: StoredTransfer): Promise<void> {
  await clearRun(context, transfer)
  await removeTree(fileOf(context.paths, transfer))
  removeTransferRow(context.db, transfer.id)
}
