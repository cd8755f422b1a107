import { messageOf } from '../../../../shared/error.ts'
import { keyOfObject, pathOfObject, type RepositoryDeps, removeFromBucket } from '../repository/repository.ts'
import { type BackupObject, isKept, objectsToRemove, updateObject } from '../rows/object-store.ts'

const AT_A_TIME = 20

export interface Mirrored {
  uploaded: number
  /** Why the rest waits, in words; undefined where nothing does. */
  problem?: string
}

export interface Mirroring {
  waiting(limit: number): BackupObject[]
  signal: AbortSignal
}

/** Copies what waits, one after another. What fails is tried again at the next call. */
export async function mirror(deps: RepositoryDeps, { waiting, signal }: Mirroring): Promise<Mirrored> {
  let uploaded = 0
  if (deps.bucket === undefined) return { uploaded }
  for (let some = waiting(AT_A_TIME); some.length > 0; some = waiting(AT_A_TIME)) {
    for (const object of some) {
      if (signal.aborted) return { uploaded }
      try {
        if (await upload(deps, object)) uploaded += 1
      } catch (error) {
        return { uploaded, problem: messageOf(error) }
      }
    }
  }
  return { uploaded }
}

async function upload({ db, paths, bucket, now }: RepositoryDeps, object: BackupObject): Promise<boolean> {
  if (!(await Bun.file(pathOfObject({ paths }, object)).exists())) {
    updateObject(db, object, { isLocal: false })
    return false
  }
  await bucket?.put(keyOfObject(object), pathOfObject({ paths }, object), object.packedBytes)
  updateObject(db, object, { uploadedAt: now() })
  // Who removed the file meanwhile could not know that it comes there.
  if (!isKept(db, object)) await bucket?.remove(keyOfObject(object))
  return true
}

/** Removes what is to go. @throws AppError unavailable while the bucket does not answer. */
export async function removeMarked(deps: RepositoryDeps, signal: AbortSignal): Promise<void> {
  for (let some = objectsToRemove(deps.db, AT_A_TIME); some.length > 0; some = objectsToRemove(deps.db, AT_A_TIME)) {
    for (const object of some) {
      if (signal.aborted) return
      await removeFromBucket(deps, object)
    }
  }
}
