/** Makes databases and stores of backups. What is asked for is written down; all else is begun anew after a kill, and leaves what is done. */
import { AppError } from '../../../../shared/error.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver, type Driver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { datastoreById, type StoredDatastore, updateDatastore } from '../../datastores/store.ts'
import type { OnceEnd } from '../../workloads/run-once.ts'
import { materialFolder } from '../repository/layout.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { recoveryOf, removeRecovery, type StoredRecovery } from '../rows/recovery-store.ts'
import { chainOf } from '../rules/chain.ts'
import { recordBackupEvent } from './events.ts'
import { runRestore } from './owner.ts'
import { restoreWays } from './restore-ways.ts'

export function createRecoveries(context: AppContext, deps: RepositoryDeps): Driver {
  const running = new Map<string, AbortController>()
  const isWanted = (id: string): boolean => datastoreById(context.db, id)?.phase === 'recovering'
  const driver = createDriver({
    run: async (id) => {
      const [datastore, recovery] = [datastoreById(context.db, id), recoveryOf(context.db, id)]
      if (datastore === undefined || recovery === undefined) return undefined
      if (!isWanted(id)) return await abandon(context, id)
      const control = new AbortController()
      running.set(id, control)
      const signal = AbortSignal.any([control.signal, context.stopping])
      await recover(context, deps, { datastore, recovery, signal }).finally(() => running.delete(id))
      return undefined
    },
    onError: (datastoreId, error) => {
      if (!context.stopping.aborted) context.log.error('database not recovered', { datastoreId, ...describeError(error) })
    },
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke(id) {
      if (!isWanted(id)) running.get(id)?.abort()
      driver.poke(id)
    },
    settled: driver.settled,
  }
}

interface Recovering {
  datastore: StoredDatastore
  recovery: StoredRecovery
  signal: AbortSignal
}

const runIdOf = (id: string): string => `${id}.restore`

/** One that was deleted while it was made: nothing works on it any more, and what was laid for it is gone. */
async function abandon(context: AppContext, id: string): Promise<undefined> {
  await context.work.awaited.end(runIdOf(id))
  await removeTree(materialFolder(context.paths, id))
}

async function recover(context: AppContext, deps: RepositoryDeps, recovering: Recovering): Promise<void> {
  const { id } = recovering.datastore
  const begunAt = context.now()
  try {
    await restore(context, deps, recovering)
    context.stopping.throwIfAborted()
    settle(context, recovering, {
      phase: 'creating',
      event: 'restored',
      details: { durationMs: context.now() - begunAt },
    })
  } catch (error) {
    if (context.stopping.aborted) throw error
    context.log.error('database not recovered', { datastoreId: id, ...describeError(error) })
    const reason = error instanceof AppError ? error.message : 'The platform failed at it; its own log says why. Try again.'
    settle(context, recovering, { phase: 'recovery_failed', event: 'restoreFailed', details: { reason } })
  } finally {
    await removeTree(materialFolder(context.paths, id))
  }
}

async function restore(context: AppContext, deps: RepositoryDeps, { datastore, recovery, signal }: Recovering): Promise<void> {
  const { id, kind, number, volumeId, volumeKind, sizeGb, version } = datastore
  const { sourceId, backupId, target } = recovery
  const way = restoreWays[kind]
  const chain = chainOf(backupsOf(context.db, sourceId), backupId)
  if (chain === undefined) throw new AppError('unavailable', 'The backup is not whole any more. Recover to another moment.')
  const owner = { id, number }
  await context.engine.volumes.make({ id: volumeId, kind: volumeKind, sizeGb, owner })
  await way.lay(deps, { folder: materialFolder(context.paths, id), uid: number }, { datastoreId: sourceId, chain, target })
  const limits = way.limitsOf(datastore.plan)
  const program = await way.program(context, { version, target, limits, recoveredId: id })
  const end = await runRestore(context, { id: runIdOf(id), owner, volumeId, material: id, limits, program, signal })
  if (!end.isDone) throw new AppError('unavailable', `The server did not come up with what was restored. ${wordsOf(end)}`)
}

const SHOWN = 400

function wordsOf({ output, isOutOfMemory }: OnceEnd): string {
  if (isOutOfMemory) return 'It ran out of the memory of its plan. Recover with a larger plan.'
  return output
    .trim()
    .split('\n')
    .filter((line) => /FATAL|PANIC|ERROR|error|cannot|[Cc]an't|Wrong|Short read/.test(line))
    .slice(-2)
    .join(' ')
    .slice(-SHOWN)
}

interface Outcome {
  phase: 'creating' | 'recovery_failed'
  event: 'restored' | 'restoreFailed'
  details: Record<string, unknown>
}

function settle(context: AppContext, { datastore, recovery }: Recovering, { phase, event, details }: Outcome): void {
  const { id, kind, workspaceId, name } = datastore
  inOneChange(context.db, () => {
    removeRecovery(context.db, id)
    if (datastoreById(context.db, id)?.phase !== 'recovering') return
    const problem = typeof details.reason === 'string' ? details.reason : null
    updateDatastore(context.db, id, { phase, problem }, context.now())
    recordBackupEvent(context, { datastoreId: id, kind, workspaceId, name }, event, {
      from: recovery.sourceId,
      backupId: recovery.backupId,
      ...details,
    })
    context.work.poke('datastore', id)
  })
}
