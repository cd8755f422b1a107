/** What there is of the segment that is being written, for the bucket: a machine that is lost takes what is nowhere else. */
import { type RepositoryDeps, storeObject } from '../repository/repository.ts'
import { type BackupObject, objectsOf } from '../rows/object-store.ts'
import { openIncoming, WAL } from './archive-wal.ts'

export const BEGUN = 'wal-begun/'

/** Stores it, unless it is what `known` says. Returns what says so the next time; undefined where nothing is begun. @throws what storing refuses. */
export async function storeBegun(
  deps: RepositoryDeps,
  datastoreId: string,
  { known, signal }: { known: string | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  const [begun] = await openIncoming(deps, datastoreId, 'begun')
  if (begun === undefined) return undefined
  try {
    const { mtimeMs } = await begun.handle.stat()
    const mark = `${begun.segment} ${mtimeMs}`
    if (mark === known) return known
    const readAt = deps.now()
    const content = begun.handle.createReadStream({ autoClose: false })
    await storeObject({ ...deps, now: () => readAt }, { datastoreId, name: BEGUN + begun.segment }, content, { signal })
    return mark
  } finally {
    await begun.handle.close()
  }
}

/** What newer has taken the place of: at the bucket only what is there as well takes a place. */
export function outdatedBegun(db: RepositoryDeps['db'], datastoreId: string): BackupObject[] {
  const begun = objectsOf(db, datastoreId, BEGUN)
  const whole = new Set(objectsOf(db, datastoreId, WAL).flatMap(({ name, uploadedAt }) => (uploadedAt === null ? [] : [name])))
  return begun.filter((object) => isOutdated(object, begun, whole))
}

function isOutdated(object: BackupObject, begun: readonly BackupObject[], whole: ReadonlySet<string>): boolean {
  const newer = begun.filter(
    ({ name, createdAt }) => createdAt > object.createdAt || (createdAt === object.createdAt && name > object.name),
  )
  if (object.uploadedAt === null) return newer.length > 0
  return newer.some(({ uploadedAt }) => uploadedAt !== null) || whole.has(WAL + object.name.slice(BEGUN.length))
}
