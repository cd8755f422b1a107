/** Tries out whether a backup can be restored: in a sandbox of its own, with all of it read, of which nothing is left. */
import { AppError } from '../../../../shared/error.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { newId } from '../../../platform/id.ts'
import { removeServiceFolders } from '../../../platform/service-folders.ts'
import type { AppContext } from '../../context.ts'
import { nextUid } from '../../services/user-ids.ts'
import type { OnceEnd } from '../../workloads/run-once.ts'
import { materialFolder } from '../repository/layout.ts'
import { BackupDamaged } from '../repository/pack.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { backupsOf, currentBackups, type StoredBackup, updateBackup } from '../rows/backup-store.ts'
import { type BackupSet, type Drill, updateBackupSet } from '../rows/set-store.ts'
import { chainOf } from '../rules/chain.ts'
import { DAY_MS } from '../rules/schedule.ts'
import { recordBackupEvent } from './events.ts'
import { runRestore } from './owner.ts'
import { restoreWays } from './restore-ways.ts'
import { hasRoom, noteDamage } from './take-next.ts'

const EVERY_MS = 7 * DAY_MS
const FIRST_AFTER_MS = DAY_MS

/** When a backup is to be tried out next: a day after the first, then weekly. */
export function nextDrillAt(backups: readonly StoredBackup[], now: number): number {
  // What a clock said that was ahead does not count.
  const last = Math.max(0, ...backups.map(({ drilledAt }) => (drilledAt === null || drilledAt > now ? 0 : drilledAt)))
  const first = backups.filter(({ status }) => status === 'available').at(-1)
  if (last > 0) return last + EVERY_MS
  return first?.completedAt == null ? Number.POSITIVE_INFINITY : first.completedAt + FIRST_AFTER_MS
}

export interface Drilling {
  context: AppContext
  deps: RepositoryDeps
  set: BackupSet
  /** Looks at one backup by itself. @throws BackupDamaged */
  verify(backup: StoredBackup): Promise<void>
}

/** Tries out the newest backup with all of the log behind it. @throws what ends the control plane, and what the machine refuses. */
export async function drill(drilling: Drilling): Promise<void> {
  const { context, set } = drilling
  const backups = currentBackups(context.db, set)
  const newest = backups.find(({ id }) => chainOf(backups, id) !== undefined)
  if (newest === undefined || !hasRoom(context, newest)) return
  const plan: Drill = { volumeId: newId('volume', context.now()), number: nextUid(context.db), backupId: newest.id }
  updateBackupSet(context.db, set.datastoreId, { drill: plan })
  try {
    await tryOut(drilling, plan, newest)
  } finally {
    if (!context.stopping.aborted) await clearDrill(context, { ...set, drill: plan })
  }
}

async function tryOut({ context, deps, set, verify }: Drilling, plan: Drill, backup: StoredBackup): Promise<void> {
  const { id: owner, run } = namesOf(plan)
  const chain = chainOf(backupsOf(context.db, set.datastoreId), backup.id) ?? []
  const begunAt = context.now()
  const { plan: size, sizeGb } = set.recipe
  const way = restoreWays[set.kind]
  const target = 'latest'
  const [{ name: kind }] = context.engine.volumes.capabilities.kinds
  if (!(await areSound({ context, deps, set, verify }, chain))) return
  await context.engine.volumes.make({ id: plan.volumeId, kind, sizeGb, owner: { id: owner, number: plan.number } })
  try {
    const material = { folder: materialFolder(context.paths, owner), uid: plan.number }
    await way.lay(deps, material, { datastoreId: set.datastoreId, chain, target })
  } catch (error) {
    if (!(error instanceof BackupDamaged)) throw error
    return noteDamage({ context, set }, backup.id, error.message)
  }
  const limits = way.limitsOf(size)
  const program = await way.program(context, { version: set.version, target, limits })
  const end = await runRestore(context, {
    ...{ id: run, owner: { id: owner, number: plan.number }, volumeId: plan.volumeId },
    ...{ material: owner, limits, program },
  })
  const { output } = end
  const words = `It could not be restored. ${output.trim().slice(-300)}`
  if (isFaultOfMachine(end)) throw new AppError('unavailable', words)
  if (!end.isDone) return noteDamage({ context, set }, backup.id, words)
  const drillMs = context.now() - begunAt
  context.db.transaction(() => {
    updateBackup(context.db, backup.id, { drilledAt: context.now(), drillMs })
    recordBackupEvent(context, set, 'verified', { backupId: backup.id, restored: true, durationMs: drillMs, ...way.readIn(output) })
  })()
}

/** By which signals a shell says that what it ran was ended. */
const FIRST_SIGNAL_EXIT = 128

/** Says nothing of a backup: want of memory or room, an end from outside, and what nobody saw. Another try tells. */
export const isFaultOfMachine = ({ isDone, exitCode, isOutOfMemory, output }: OnceEnd): boolean =>
  !isDone &&
  (isOutOfMemory || exitCode === undefined || exitCode > FIRST_SIGNAL_EXIT || /No space left on device|Cannot allocate memory/.test(output))

/** Restoring reads no manifest that the next backup builds upon, and cannot tell which of several is at fault: each is looked at by itself first. */
async function areSound({ context, set, verify }: Drilling, chain: readonly StoredBackup[]): Promise<boolean> {
  for (const backup of chain) {
    try {
      await verify(backup)
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      noteDamage({ context, set }, backup.id, error.message)
      return false
    }
  }
  return true
}

const namesOf = ({ backupId, number }: Drill) => ({ id: backupId, run: `${backupId}.drill-${number}` })

/** Removes all that a drill has left, one of a process before this one as well. */
export async function clearDrill(
  context: AppContext,
  { datastoreId, drill: plan }: Pick<BackupSet, 'datastoreId' | 'drill'>,
): Promise<void> {
  if (plan === null) return
  const { id: owner, run } = namesOf(plan)
  await context.work.awaited.end(run)
  await context.engine.removeOwner(owner)
  await context.engine.volumes.remove(plan.volumeId)
  await removeServiceFolders(context.paths, owner)
  await removeTree(materialFolder(context.paths, owner))
  updateBackupSet(context.db, datastoreId, { drill: null })
}
