import { timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { setFoldersOf } from '../repository/layout.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { openObject, type RepositoryDeps } from '../repository/repository.ts'
import type { StoredBackup } from '../rows/backup-store.ts'
import { findObject, segmentsBetween } from '../rows/object-store.ts'
import { placeInLog, segmentNumberAt, segmentNumberOf } from '../rules/wal-names.ts'
import { ensureToolFolder } from './folders.ts'
import { MANIFEST } from './manifest.ts'
import { layMaterial } from './material.ts'
import { manifestOf } from './take.ts'
import { startTool } from './tools.ts'

export interface VerifyOptions {
  programs: string
  uid: number
  signal: AbortSignal
}

/**
 * Unpacks a backup as an ordinary user and has pg_verifybackup look at every file, and at the log from its beginning to its end.
 * @throws BackupDamaged naming what is wrong.
 */
export async function verifyBackup(deps: RepositoryDeps, backup: StoredBackup, { programs, uid, signal }: VerifyOptions): Promise<void> {
  const folder = join(setFoldersOf(deps.paths, backup.datastoreId).root, `check-${backup.id}`)
  const tool = { programs, uid, folder }
  try {
    await layMaterial(deps, { folder, uid }, { datastoreId: backup.datastoreId, chain: [backup], until: 0, isInBackground: true })
    const data = await ensureToolFolder(join(folder, 'data'), uid)
    const unpacking = { ...tool, name: '/usr/bin/tar', args: ['-xf', join(folder, 'chain', '0.tar'), '-C', data] }
    await startTool(unpacking, { signal }).done.catch((cause) => refuse('its archive cannot be unpacked', cause))
    await compareManifests(deps, backup, join(data, MANIFEST))
    const args = ['--exit-on-error', '--quiet', `--wal-directory=${join(folder, 'wal')}`, data]
    await startTool({ ...tool, name: 'pg_verifybackup', args }, { signal }).done.catch((cause) =>
      refuse('its files are not those of its manifest', cause),
    )
  } finally {
    await removeTree(folder)
  }
}

function refuse(what: string, cause: unknown): never {
  if (!(cause instanceof AppError)) throw cause
  throw new BackupDamaged(`${what} (${cause.message})`, cause)
}

/** The manifest that the next backup builds upon is the one that stands in the archive. */
async function compareManifests(deps: RepositoryDeps, { id, datastoreId }: StoredBackup, unpacked: string): Promise<void> {
  const kept = findObject(deps.db, datastoreId, manifestOf(id))
  if (kept === undefined) throw new BackupDamaged('its manifest is missing')
  const [one, other] = await Promise.all([buffer(await openObject(deps, kept)), readFile(unpacked)])
  if (one.length !== other.length || !timingSafeEqual(one, other)) throw new BackupDamaged('its manifest is that of another backup')
}

export function hasItsLog(
  { db }: Pick<RepositoryDeps, 'db'>,
  { datastoreId, lineage, startLsn, endLsn }: Pick<StoredBackup, 'datastoreId' | 'lineage' | 'startLsn' | 'endLsn'>,
): boolean {
  if (startLsn === null || endLsn === null) return false
  const [first, last] = [segmentNumberAt(startLsn), segmentNumberAt(endLsn)]
  const there = segmentsBetween(db, { datastoreId, lineage }, [placeInLog(first), placeInLog(last)])
  return new Set(there.map(segmentNumberOf)).size === last - first + 1
}
