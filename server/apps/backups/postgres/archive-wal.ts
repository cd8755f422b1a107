import { constants } from 'node:fs'
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises'
import { AppError } from '../../../../shared/error.ts'
import { type RepositoryDeps, storeObject } from '../repository/repository.ts'
import { walIn } from '../rows/object-store.ts'
import { backupSetOf } from '../rows/set-store.ts'
import { isHistory, isSegment, SEGMENT_BYTES } from '../rules/wal-names.ts'
import { incomingIn, PARTIAL } from './receiver.ts'

const MAX_HISTORY_BYTES = 1024 * 1024

/** Moves what the receiver has finished into the repository, oldest first, a file gone from the one when it is in the other. Each is of the moment of its last write. Returns their names. */
export async function archiveWal(deps: RepositoryDeps, datastoreId: string, signal: AbortSignal): Promise<string[]> {
  const wal = walIn(lineageOf(deps, datastoreId))
  const finished = (await incomingNames(deps, datastoreId)).filter((name) => isSegment(name) || isHistory(name)).toSorted()
  for (const name of finished) {
    signal.throwIfAborted()
    const handle = await openFile(deps, datastoreId, name)
    try {
      const writtenAt = Math.min(deps.now(), Math.floor((await handle.stat()).mtimeMs))
      const content = handle.createReadStream({ autoClose: false })
      await storeObject({ ...deps, now: () => writtenAt }, { datastoreId, name: wal + name }, content, { signal })
    } finally {
      // Where nothing of it was read, as on a full disk, nobody else closes it.
      await handle.close()
    }
    await unlink(incomingIn(deps, datastoreId, name))
  }
  return finished
}

export const lineageOf = ({ db }: Pick<RepositoryDeps, 'db'>, datastoreId: string): number => backupSetOf(db, datastoreId)?.lineage ?? 0

export interface IncomingSegment {
  segment: string
  handle: FileHandle
}

/**
 * All segments that the receiver has, the one that is being written included, or that alone, in order. They are the caller's to close. What
 * has moved on meanwhile is stored by now; a segment that has not got its size yet holds nothing.
 */
export async function openIncoming(deps: RepositoryDeps, datastoreId: string, which: 'all' | 'begun' = 'all'): Promise<IncomingSegment[]> {
  const opened: IncomingSegment[] = []
  for (const name of (await incomingNames(deps, datastoreId)).toSorted()) {
    const segment = name.endsWith(PARTIAL) ? name.slice(0, -PARTIAL.length) : name
    if (!isSegment(segment) || (which === 'begun' && segment === name)) continue
    const handle = await openFile(deps, datastoreId, name).catch((error) => {
      if (name.endsWith(PARTIAL) && error instanceof AppError) return undefined
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    })
    if (handle !== undefined) opened.push({ segment, handle })
  }
  return opened
}

const incomingNames = (deps: RepositoryDeps, datastoreId: string): Promise<string[]> =>
  readdir(incomingIn(deps, datastoreId)).catch(() => [])

/** The folder is its writer's, who reads what a tenant's server sends: nothing in it is followed, and nothing taken that is no such file. */
async function openFile(deps: RepositoryDeps, datastoreId: string, name: string): Promise<FileHandle> {
  const handle = await open(incomingIn(deps, datastoreId, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const stat = await handle.stat()
  const isRight = stat.isFile() && (isHistory(name) ? stat.size <= MAX_HISTORY_BYTES : stat.size === SEGMENT_BYTES)
  if (isRight) return handle
  await handle.close()
  throw new AppError('unavailable', `${name} in the log of ${datastoreId} is not what a server writes`)
}
