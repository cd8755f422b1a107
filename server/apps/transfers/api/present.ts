import type { PostgresExport, PostgresImport, TransferProgress } from '../../../../shared/postgres-transfer.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { expiryOf } from '../work/exports.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

export const fileUrlOf = (publicUrl: string, { id, datastoreId }: Pick<StoredTransfer, 'id' | 'datastoreId'>): string =>
  `${publicUrl.replace(/\/$/, '')}/v1/postgres/${datastoreId}/export/${id}/file`

function common({ status, createdAt, startedAt, completedAt, reason }: StoredTransfer, progress: TransferProgress | undefined) {
  return {
    status: status === 'removing' ? ('canceled' as const) : status,
    createdAt: iso(createdAt),
    ...(startedAt !== null && { startedAt: iso(startedAt) }),
    ...(completedAt !== null && { completedAt: iso(completedAt) }),
    ...(progress !== undefined && { progress }),
    ...(reason !== null && { reason }),
  }
}

export function presentExport(transfer: StoredTransfer, publicUrl: string, progress?: TransferProgress): PostgresExport {
  const { id, sizeBytes, sha256, status } = transfer
  return {
    id,
    ...common(transfer, progress),
    ...(sizeBytes !== null && { sizeBytes }),
    ...(sha256 !== null && { sha256 }),
    ...(status === 'succeeded' && { url: fileUrlOf(publicUrl, transfer), expiresAt: iso(expiryOf(transfer)) }),
  }
}

export function presentImport(transfer: StoredTransfer, progress?: TransferProgress): PostgresImport {
  const { id, sourceHost, isClean, skipped } = transfer
  return {
    id,
    ...common(transfer, progress),
    source: sourceHost === null ? 'upload' : 'database',
    ...(sourceHost !== null && { host: sourceHost }),
    clean: isClean,
    skipped,
  }
}
