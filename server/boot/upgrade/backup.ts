import { Database } from 'bun:sqlite'
import { chmodSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile, mkdir, open, readdir, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { syncFolder } from '../../platform/files/replace-file.ts'
import type { Paths } from '../../platform/paths.ts'
import { backupsToRemove } from './rules.ts'

const OWNER_ONLY = 0o600
const CONTROL = 'control.db'
const LOGS = 'logs.db'
const BUSY_TIMEOUT_MS = 30_000

export async function makeBackupFolder(paths: Paths, name: string): Promise<string> {
  const folder = join(paths.backups, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const old of backupsToRemove(await readdir(paths.backups))) await rm(join(paths.backups, old), { recursive: true, force: true })
  return folder
}

/** @throws AppError `unavailable` when the disk has no room for a backup, a copy to try the new version on, and the new executable. */
export async function requireRoomForUpgrade(paths: Paths, executableBytes: number): Promise<void> {
  const databaseBytes = [paths.controlDb, paths.logsDb].reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  const { bavail, bsize } = await statfs(paths.data)
  const wantedBytes = 2 * databaseBytes + executableBytes
  if (bavail * bsize >= wantedBytes) return
  const mib = (bytes: number) => Math.ceil(bytes / 1024 / 1024)
  throw new AppError(
    'unavailable',
    `The upgrade needs ${mib(wantedBytes)} MiB at ${paths.data}, ${mib(bavail * bsize)} are free. Make room first.`,
  )
}

export function backUpControl(db: Database, folder: string): void {
  vacuumInto(db, join(folder, CONTROL))
}

export function backUpLogs(paths: Paths, folder: string): void {
  const db = new Database(paths.logsDb, { readonly: true, strict: true })
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    vacuumInto(db, join(folder, LOGS))
  } finally {
    db.close()
  }
}

function vacuumInto(db: Database, path: string): void {
  rmSync(path, { force: true })
  db.query('VACUUM INTO $path').run({ path })
  chmodSync(path, OWNER_ONLY)
}

export async function refreshControl(paths: Paths, folder: string): Promise<void> {
  await copyDurably(paths.controlDb, join(folder, CONTROL))
}

export async function copyForCheck(folder: string, target: string): Promise<void> {
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true, mode: 0o700 })
  for (const name of [CONTROL, LOGS]) await copyFile(join(folder, name), join(target, name), constants.COPYFILE_FICLONE)
}

export interface SchemaVersions {
  control: number
  logs: number
}

export function schemaVersionsOf(paths: Pick<Paths, 'controlDb' | 'logsDb'>): SchemaVersions {
  return { control: schemaVersionOf(paths.controlDb), logs: schemaVersionOf(paths.logsDb) }
}

function schemaVersionOf(path: string): number {
  if (!existsSync(path)) return 0
  const db = new Database(path, { strict: true })
  try {
    return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0
  } finally {
    db.close()
  }
}

/** Puts those databases back that have another schema than they had. Repeatable; nobody may have them open. Returns their names. */
export async function restoreChanged(paths: Paths, folder: string, before: SchemaVersions): Promise<string[]> {
  const now = schemaVersionsOf(paths)
  const changed = [
    ...(now.control === before.control ? [] : [{ name: CONTROL, path: paths.controlDb }]),
    ...(now.logs === before.logs ? [] : [{ name: LOGS, path: paths.logsDb }]),
  ]
  for (const { name, path } of changed) {
    const incoming = `${path}.restored`
    await copyDurably(join(folder, name), incoming)
    // What these hold belongs to the file that goes; first, as they would be replayed into the one that comes.
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    renameSync(incoming, path)
    syncFolder(dirname(path))
  }
  return changed.map(({ name }) => name)
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, OWNER_ONLY)
  const handle = await open(to, 'r+')
  await handle.sync()
  await handle.close()
}
