/**
 * Copies to the bucket what is not there yet: the log of each database in a lane of its own, as a backup of gigabytes that is under way must not
 * hold it up, and all else in another. A set describes itself beside its files when all of its log is there.
 */
import { messageOf } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import { every } from '../../../platform/work/clock.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { copyProblem } from '../offsite/copy-problem.ts'
import { createDescriber } from '../offsite/describe.ts'
import { type Mirrored, mirror, removeMarked } from '../offsite/mirror.ts'
import { outdatedBegun, storeBegun } from '../postgres/begun-log.ts'
import { type RepositoryDeps, removeObject } from '../repository/repository.ts'
import { backupsToUpload, logToUpload, waitingSince } from '../rows/object-store.ts'
import { allBackupSets, backupSetOf, updateBackupSet } from '../rows/set-store.ts'
import { recordBackupEvent } from './events.ts'

const LOOK_EVERY_MS = 15_000
/** With a look and an upload it is a minute until a commit is at the bucket. */
const BEGUN_EVERY_MS = 45_000
const BACKUPS = ''

export interface Offsite {
  poke(datastoreId: string): void
  settled(): Promise<void>
}

interface Begun {
  mark: string | undefined
  at: number
}

export function createOffsite(context: AppContext, deps: RepositoryDeps): Offsite {
  const { db, now, after, stopping } = context
  const told = new Map<string, string>()
  const begun = new Map<string, Begun>()
  const describe = createDescriber(deps)

  const startedAt = now()

  /** People are told, too, where a lane waits for hours for an answer. */
  function tellPeople(): void {
    for (const set of allBackupSets(db)) {
      const { datastoreId: id, adoptedUntil, copyProblem: before } = set
      if (adoptedUntil !== null) continue
      const problem = told.get(id) ?? told.get(BACKUPS)
      const after = copyProblem({ now: now(), startedAt, waitingSince: waitingSince(db, id), problem, told: before })
      if (after === before) continue
      db.transaction(() => {
        updateBackupSet(db, id, { copyProblem: after })
        if (before === null) recordBackupEvent(context, set, 'copyFailed', { reason: after })
        else if (after === null) recordBackupEvent(context, set, 'copyResumed', {})
      })()
    }
  }

  function tell(lane: string, { problem }: Mirrored): void {
    if (problem !== undefined && told.get(lane) === undefined)
      context.log.error('backups not copied to the bucket', { lane, reason: problem })
    if (problem === undefined && told.has(lane)) context.log.info('backups copied to the bucket again', { lane })
    if (problem === undefined) told.delete(lane)
    else told.set(lane, problem)
  }

  async function copyBackups(): Promise<void> {
    const removed = await removeMarked(deps, stopping).then(() => undefined, messageOf)
    const { problem = removed, uploaded } = await mirror(deps, { waiting: (limit) => backupsToUpload(db, limit), signal: stopping })
    tell('backups', { uploaded, ...(problem !== undefined && { problem }) })
  }

  async function copyLog(id: string): Promise<void> {
    const known = begun.get(id)
    const readAt = now()
    if (known === undefined || readAt - known.at >= BEGUN_EVERY_MS)
      begun.set(id, { mark: await storeBegun(deps, id, { known: known?.mark, signal: stopping }), at: readAt })
    const mirrored = await mirror(deps, { waiting: (limit) => logToUpload(db, id, limit), signal: stopping })
    tell(id, mirrored)
    if (mirrored.problem !== undefined || stopping.aborted) return
    await describe(id, begun.get(id)?.at ?? readAt)
    for (const object of outdatedBegun(db, id)) await removeObject(deps, object)
  }

  const driver = createDriver({
    run: async (lane) => {
      if (lane === BACKUPS) await copyBackups()
      else if (backupSetOf(db, lane)?.isRemoving === false) await copyLog(lane)
      return undefined
    },
    onError: (lane, error) => {
      if (!stopping.aborted) context.log.error('backups not copied to the bucket', { lane, ...describeError(error) })
    },
    now,
    after,
    signal: stopping,
  })
  if (deps.bucket === undefined) {
    for (const { datastoreId, copyProblem: told } of allBackupSets(db))
      if (told !== null) updateBackupSet(db, datastoreId, { copyProblem: null })
  } else
    stopping.addEventListener(
      'abort',
      every(context, LOOK_EVERY_MS, () => {
        tellPeople()
        driver.poke(BACKUPS)
        for (const { datastoreId, adoptedUntil } of allBackupSets(db)) if (adoptedUntil === null) driver.poke(datastoreId)
      }),
    )
  return { poke: driver.poke, settled: driver.settled }
}
