import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../../../shared/error.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { setFoldersOf } from '../repository/layout.ts'
import { ensureSetFolders, openObject, type RepositoryDeps, storeArchive } from '../repository/repository.ts'
import { findObject } from '../rows/object-store.ts'
import { ensureToolFolder } from './folders.ts'
import { MANIFEST, type WalRange, walRangeOf } from './manifest.ts'
import { type BackupSource, commandOf, connectionArgs } from './tools.ts'

export const ARCHIVE = 'base.tar'

export const archiveOf = (backupId: string): string => `${backupId}/${ARCHIVE}`
export const manifestOf = (backupId: string): string => `${backupId}/${MANIFEST}`

/** Reads beyond this, in kB each second, would be felt by who uses the database. */
const MAX_RATE_KB = 200_000

export interface WantedBackup {
  datastoreId: string
  backupId: string
  parentId?: string
}

export interface TakenBackup extends WalRange {
  plainBytes: number
}

/** Takes a backup of a running server into the repository: archive and manifest. @throws AppError unavailable in the tool's words. */
export async function takeBackup(
  deps: RepositoryDeps,
  source: BackupSource,
  wanted: WantedBackup,
  signal: AbortSignal,
): Promise<TakenBackup> {
  const { datastoreId, backupId, parentId } = wanted
  await ensureSetFolders(deps, datastoreId)
  const parent = parentId === undefined ? undefined : await layManifest(deps, source, { datastoreId, backupId: parentId })
  try {
    const command = commandOf({ ...backupTool(source, parent), folder: setFoldersOf(deps.paths, datastoreId).root })
    const entry = { name: MANIFEST, as: manifestOf(backupId) }
    const { archive } = await storeArchive(deps, { datastoreId, name: archiveOf(backupId), command, entry }, signal)
    return { ...walRangeOf(await buffer(await openManifest(deps, wanted))), plainBytes: archive.plainBytes }
  } finally {
    if (parent !== undefined) await rm(parent, { force: true })
  }
}

function backupTool(source: BackupSource, parentManifest: string | undefined) {
  const into = ['--pgdata=-', '--format=tar', '--wal-method=none', '--checkpoint=fast', '--no-estimate-size']
  const parent = parentManifest === undefined ? [] : [`--incremental=${parentManifest}`]
  const args = [...connectionArgs(source), ...into, `--max-rate=${MAX_RATE_KB}`, ...parent]
  return { programs: source.programs, uid: source.uid, name: 'pg_basebackup', args, env: { PGPASSWORD: source.password } }
}

/** The tool reads the manifest of the backup before as a file. */
async function layManifest(deps: RepositoryDeps, { uid }: BackupSource, { datastoreId, backupId }: WantedBackup): Promise<string> {
  const manifest = await openManifest(deps, { datastoreId, backupId })
  const folder = await ensureToolFolder(join(setFoldersOf(deps.paths, datastoreId).root, 'parents'), uid)
  const path = join(folder, `${crypto.randomUUID()}.manifest`)
  await writeFile(path, manifest, { mode: isRoot ? 0o644 : 0o600 })
  return path
}

async function openManifest(
  deps: RepositoryDeps,
  { datastoreId, backupId }: Pick<WantedBackup, 'datastoreId' | 'backupId'>,
): Promise<Readable> {
  const object = findObject(deps.db, datastoreId, manifestOf(backupId))
  if (object === undefined) throw new AppError('not_found', `The manifest of backup ${backupId} is missing`)
  return await openObject(deps, object)
}
