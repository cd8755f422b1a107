import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { materialFolder } from '../../backups/repository/layout.ts'
import { newPassword } from '../../postgres/sql.ts'
import { policyOf } from '../../webhooks/url.ts'
import type { StoredTransfer } from '../rows/store.ts'
import { connectSource } from '../source/connect.ts'
import { withoutBinding } from '../source/unbound.ts'
import { parseSource } from '../source/url.ts'
import { IMPORT_SCRIPT } from '../tools/import-script.ts'
import { reasonOf, skippedIn } from '../tools/outcome.ts'
import { openRelay, type Relay } from '../tools/relay.ts'
import { toolRoles } from '../tools/roles.ts'
import { runTools } from '../tools/sandbox.ts'
import { layDump } from './dump.ts'
import { openTarget } from './target.ts'
import type { Transferring } from './transfer.ts'

export const sourcePurpose = (id: string): string => `transfers.${id}.source`

/** Version from which on pg_dump can leave extensions out. */
const EXCLUDES = 17
const GIB = 1024 ** 3
/** SQL takes more room as text than as rows; what takes much more than the disk of the database is no dump for it. */
const MOST_TIMES = 4

interface Source {
  format: string
  env: Record<string, string>
  secrets: Record<string, string>
  relay?: Relay
}

/** Fills a database with a dump or another database. @throws AppError unavailable saying why nothing of it is in. */
export async function performImport(transferring: Transferring): Promise<Partial<StoredTransfer>> {
  const { context, transfer, place, signal, watch } = transferring
  const { own, version } = place
  const folder = materialFolder(context.paths, transfer.id)
  const password = newPassword()
  const target = await openTarget(context, { place, transfer, folder: join(folder, 'target'), password })
  let source: Source | undefined
  try {
    source = await openSource(transferring, folder)
    watch(target.bytes)
    const { isDone, output } = await runTools(context, {
      transfer,
      version,
      signal,
      command: IMPORT_SCRIPT,
      secrets: { password, ...source.secrets },
      env: {
        CPD_FORMAT: source.format,
        CPD_TARGET_USER: toolRoles.import,
        CPD_TARGET_DATABASE: own.databaseName,
        CPD_TARGET: `dbname='${own.databaseName.replace(/[\\']/g, '\\$&')}'`,
        CPD_WORD: randomBytes(24).toString('hex'),
        ...(transfer.isClean && { CPD_CLEAN: '1' }),
        ...(Number(version) >= EXCLUDES && { CPD_CAN_EXCLUDE: '1' }),
        ...source.env,
      },
    })
    signal.throwIfAborted()
    if (!isDone) throw new AppError('unavailable', reasonOf(output))
    return { skipped: skippedIn(output) }
  } finally {
    source?.relay?.close()
    await target.end()
  }
}

async function openSource({ context, transfer, place, signal }: Transferring, folder: string): Promise<Source> {
  if (transfer.sourceSealed === null) {
    const format = await layDump(context, { transfer, to: join(folder, 'dump'), maxBytes: place.sizeGb * GIB * MOST_TIMES, signal })
    return { format, env: {}, secrets: {} }
  }
  const policy = policyOf(context.config)
  const source = parseSource(context.sealer.open(transfer.sourceSealed, sourcePurpose(transfer.id)), policy)
  const way = { policy, lookup: context.lookup, signal }
  const relay = await openRelay(join(folder, 'source'), {
    uid: transfer.number,
    open: () => connectSource(source, way),
    rewrite: withoutBinding,
  })
  return {
    format: 'database',
    env: { CPD_SOURCE_USER: source.user, CPD_SOURCE_DATABASE: source.database },
    secrets: { 'source-password': source.password },
    relay,
  }
}
