import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { isRoot } from '../../../platform/service-folders.ts'
import { type Material, writeLaid } from '../repository/lay.ts'
import { BackupDamaged } from '../repository/pack.ts'
import { type Extraction, extractObjects, type RepositoryDeps } from '../repository/repository.ts'
import { requireRoom } from '../repository/room.ts'
import type { StoredBackup } from '../rows/backup-store.ts'
import { type BackupObject, begunIn, findObject, objectsOf, walIn } from '../rows/object-store.ts'
import { isHistory, isSegment, logFileOf, SEGMENT_BYTES, segmentNumberAt, segmentNumberOf } from '../rules/wal-names.ts'
import { lineageOf, openIncoming } from './archive-wal.ts'
import { archiveOf } from './take.ts'

export interface MaterialPlan {
  datastoreId: string
  chain: readonly StoredBackup[]
  /** Up to when the log is wanted, in milliseconds since 1970; undefined for all there is. */
  until?: number
  isInBackground?: boolean
}

/** Clocks of commits and of the archive are the same machine's; a transaction takes its time before it is committed. */
const MARGIN_MS = 60_000

/** A moment as PostgreSQL takes it for the target of a recovery, which is before it knows the letter Z. */
export const targetOf = (atMs: number): string => new Date(atMs).toISOString().replace('T', ' ').replace('Z', '+00')

/** Lays decrypted archives and log in a folder of its own for whoever restores. @throws BackupDamaged naming what is wrong; not_found for what is gone. */
export async function layMaterial(deps: RepositoryDeps, { folder, uid }: Material, plan: MaterialPlan): Promise<void> {
  await removeTree(folder)
  for (const path of [folder, join(folder, 'chain'), join(folder, 'wal')]) await mkdir(path, { recursive: true, mode: 0o700 })
  const archives = plan.chain.map(({ id }, index): Laid => {
    const archive = findObject(deps.db, plan.datastoreId, archiveOf(id))
    if (archive === undefined) throw new BackupDamaged(`the archive of ${id} is missing`)
    return { object: archive, path: join(folder, 'chain', `${index}.tar`) }
  })
  await layAll(deps, { folder, uid }, { archives, plan })
  if (isRoot) for (const path of [folder, join(folder, 'chain'), join(folder, 'wal')]) await chown(path, uid, uid)
}

type Laid = Required<Pick<Extraction, 'object' | 'path'>>

interface Laying {
  archives: readonly Laid[]
  plan: MaterialPlan
}

/** What the receiver has is opened before what is stored is looked up: what it has finished moves from the one place to the other. */
async function layAll(deps: RepositoryDeps, { folder, uid }: Material, { archives, plan }: Laying): Promise<void> {
  const lineage = plan.chain.at(-1)?.lineage ?? 0
  const incoming = lineage === lineageOf(deps, plan.datastoreId) ? await openIncoming(deps, plan.datastoreId) : []
  const placeOf = (segment: string) => join(folder, 'wal', segment)
  try {
    const stored = logFor(objectsOf(deps.db, plan.datastoreId, walIn(lineage)), plan).map(
      (object): Laid => ({ object, path: placeOf(logFileOf(object.name)) }),
    )
    const isStored = new Set(stored.map(({ object }) => logFileOf(object.name)))
    const begun =
      incoming.length > 0 || plan.until === 0 ? [] : begunAfter(objectsOf(deps.db, plan.datastoreId, begunIn(lineage)), isStored)
    const last = begun.slice(0, 1).map((object): Laid => ({ object, path: placeOf(logFileOf(object.name)) }))
    const wanted = [...archives, ...stored, ...last]
    requireRoom(deps.paths, bytesOf(wanted))
    await extractObjects(deps, wanted, { isAwaited: plan.isInBackground !== true })
    if (isRoot) for (const { path } of wanted) await chown(path, uid, uid)
    for (const { segment, handle } of incoming)
      if (!isStored.has(segment)) await writeLaid(handle.createReadStream({ autoClose: false }), { path: placeOf(segment), uid })
  } finally {
    for (const { handle } of incoming) await handle.close()
  }
}

const bytesOf = (wanted: readonly Laid[]): number =>
  wanted.reduce((sum, { object }) => sum + object.plainBytes + (object.isLocal ? 0 : object.packedBytes), 0)

/** The newest of what was stored of a segment that is not whole, where it goes on from the last that is. */
function begunAfter(begun: readonly BackupObject[], isStored: ReadonlySet<string>): BackupObject[] {
  const last = highestOf([...isStored].filter(isSegment).map(segmentNumberOf))
  const next = begun.filter(({ name }) => segmentNumberOf(logFileOf(name)) === last + 1)
  return next.toSorted((one, other) => other.createdAt - one.createdAt)
}

/** The segments from the start of the last backup on, without a gap, and all histories. @throws BackupDamaged naming a segment that is missing. */
export function logFor(log: readonly BackupObject[], { chain, until }: Pick<MaterialPlan, 'chain' | 'until'>): BackupObject[] {
  const backup = chain.at(-1)
  if (backup?.startLsn == null || backup.endLsn === null) throw new AppError('conflict', 'The backup is not complete')
  const [first, last] = [segmentNumberAt(backup.startLsn), segmentNumberAt(backup.endLsn)]
  const segments = newestOfEach(log)
    .filter(({ name }) => isSegment(logFileOf(name)) && numberOf(name) >= first)
    .toSorted((a, b) => numberOf(a.name) - numberOf(b.name) || a.createdAt - b.createdAt)
  const enough = segments.findIndex(({ name, createdAt }) => until !== undefined && createdAt > until + MARGIN_MS && numberOf(name) > last)
  const wanted = enough === -1 ? segments : segments.slice(0, enough + 1)
  const numbers = new Set(wanted.map(({ name }) => numberOf(name)))
  const highest = Math.max(last - 1, highestOf(numbers))
  for (let number = first; number <= highest; number += 1)
    if (!numbers.has(number))
      throw new BackupDamaged(`segment ${number} of the log (${number * SEGMENT_BYTES} bytes from its beginning) is missing`)
  return [...log.filter(({ name }) => isHistory(logFileOf(name))), ...wanted]
}

/** A machine that was set back to an earlier state writes other contents under names that there are. */
function newestOfEach(log: readonly BackupObject[]): BackupObject[] {
  const byName = new Map<string, BackupObject>()
  for (const object of log) {
    const known = byName.get(object.name)
    if (known === undefined || known.createdAt <= object.createdAt) byName.set(object.name, object)
  }
  return [...byName.values()]
}

/** A week of a busy database has more segments than a function takes arguments. */
function highestOf(numbers: Iterable<number>): number {
  let highest = -1
  for (const number of numbers) highest = Math.max(highest, number)
  return highest
}

const numberOf = (name: string): number => segmentNumberOf(logFileOf(name))
