import { createWriteStream } from 'node:fs'
import { chown } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { isRoot } from '../../../platform/service-folders.ts'
import type { BackupObject } from '../rows/object-store.ts'
import { BackupDamaged } from './pack.ts'
import { openObject, type RepositoryDeps } from './repository.ts'

/** Where what is restored is laid, decrypted, and for whom. */
export interface Material {
  folder: string
  uid: number
}

/** A file that is for one user alone. */
export interface LaidFile {
  path: string
  uid: number
}

type Through = (content: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

/** Lays one file of a backup. @throws BackupDamaged naming it; not_found for one that is gone. */
export async function layObject(deps: RepositoryDeps, object: BackupObject, file: LaidFile, through?: Through): Promise<void> {
  try {
    const content = await openObject(deps, object)
    await writeLaid(through === undefined ? content : through(content), file)
  } catch (error) {
    throw error instanceof BackupDamaged ? new BackupDamaged(`${object.name}: ${error.message}`, error) : error
  }
}

export async function writeLaid(content: NodeJS.ReadableStream | AsyncIterable<Uint8Array>, { path, uid }: LaidFile): Promise<void> {
  await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  if (isRoot) await chown(path, uid, uid)
}
