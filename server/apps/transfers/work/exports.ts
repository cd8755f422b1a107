import { AppError } from '../../../../shared/error.ts'
import { exportKeptDays } from '../../../../shared/postgres-transfer.ts'
import { materialFolder } from '../../backups/repository/layout.ts'
import { newPassword } from '../../postgres/sql.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { EXPORT_SCRIPT, EXPORTED_FILE } from '../tools/export-script.ts'
import { reasonOf } from '../tools/outcome.ts'
import { toolRoles } from '../tools/roles.ts'
import { runTools } from '../tools/sandbox.ts'
import { takeMade } from './folders.ts'
import { openTarget } from './target.ts'
import type { Transferring } from './transfer.ts'

const DAY_MS = 24 * 60 * 60_000

/** When the file of an export goes, in milliseconds since 1970. */
export const expiryOf = ({ completedAt, createdAt }: Pick<StoredTransfer, 'completedAt' | 'createdAt'>): number =>
  (completedAt ?? createdAt) + exportKeptDays * DAY_MS

/** Version from which on pg_dump knows zstd, and from which on it can leave extensions out. */
const ZSTD = 16
const EXCLUDES = 17

/** Dumps a database into a file. @throws AppError unavailable saying why that failed. */
export async function performExport({ context, transfer, place, signal, watch }: Transferring): Promise<Partial<StoredTransfer>> {
  const { own, version } = place
  const password = newPassword()
  const target = await openTarget(context, { place, transfer, folder: materialFolder(context.paths, transfer.id), password })
  try {
    watch(target.bytes)
    const { isDone, output } = await runTools(context, {
      transfer,
      version,
      signal,
      command: EXPORT_SCRIPT,
      secrets: { password },
      env: {
        CPD_FOLDER: `${new Date(transfer.createdAt).toISOString().slice(0, 16).replaceAll(':', '')}Z.dir`,
        CPD_COMPRESS: Number(version) >= ZSTD ? '--compress=zstd:3' : '--compress=6',
        // What the platform itself has put into each database: whoever imports has it already.
        ...(Number(version) >= EXCLUDES && { CPD_EXCLUDED: '--exclude-extension=pg_stat_statements' }),
        PGUSER: toolRoles.export,
        PGDATABASE: own.databaseName,
        // The owner of a database may have settings for all who connect to it.
        PGOPTIONS: '-c role=none -c statement_timeout=0 -c default_transaction_read_only=on -c search_path=pg_catalog',
      },
    })
    signal.throwIfAborted()
    if (!isDone) throw new AppError('unavailable', reasonOf(output))
    return await takeMade(context.paths, transfer, EXPORTED_FILE)
  } finally {
    await target.end()
  }
}
