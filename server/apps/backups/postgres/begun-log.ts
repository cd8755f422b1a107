/** What there is of the segment that is being written, for the bucket: a machine that is lost takes what is nowhere else. */
import { type RepositoryDeps, storeObject } from '../repository/repository.ts'
import { type BackupObject, begunIn, findObject, objectsOf, walIn } from '../rows/object-store.ts'
import { logFileOf } from '../rules/wal-names.ts'
import { lineageOf, openIncoming } from './archive-wal.ts'

/** Stores it, unless it is what `known` says. Returns what says so the next time; undefined where nothing is begun. @throws what storing refuses. */
export async function storeBegun(
  deps: RepositoryDeps,
  datastoreId: string,
  { known, signal }: { known: string | undefined; signal: AbortSignal },
): Promise<string | undefined> {
  const all = await openIncoming(deps, datastoreId, 'begun')
  const begun = all.at(-1)
  try {
    if (begun === undefined) return undefined
    const { mtimeMs } = await begun.handle.stat()
    const mark = `${begun.segment} ${mtimeMs}`
    if (mark === known) return known
    const readAt = deps.now()
    const content = begun.handle.createReadStream({ autoClose: false })
    await storeObject(
      { ...deps, now: () => readAt },
      { datastoreId, name: begunIn(lineageOf(deps, datastoreId)) + begun.segment },
      content,
      { signal },
    )
    return mark
  } finally {
    for (const { handle } of all) await handle.close()
  }
}

/** What newer has taken the place of, in the lineage that is received: at the bucket only what is there as well takes a place. */
export function outdatedBegun(db: RepositoryDeps['db'], datastoreId: string): BackupObject[] {
  const lineage = lineageOf({ db }, datastoreId)
  const begun = objectsOf(db, datastoreId, begunIn(lineage))
  const isWhole = (segment: string): boolean => findObject(db, datastoreId, walIn(lineage) + segment)?.uploadedAt != null
  return begun.filter((object) => isOutdated(object, begun, isWhole))
}

function isOutdated(object: BackupObject, begun: readonly BackupObject[], isWhole: (segment: string) => boolean): boolean {
  const newer = begun.filter(
    ({ name, createdAt }) => createdAt > object.createdAt || (createdAt === object.createdAt && name > object.name),
  )
  if (object.uploadedAt === null) return newer.length > 0
  return newer.some(({ uploadedAt }) => uploadedAt !== null) || isWhole(logFileOf(object.name))
}
