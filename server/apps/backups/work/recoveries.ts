/** Makes databases of backups. What is asked for is written down; all else is begun anew after a kill, and leaves what is done. */
import { AppError } from '../../../../shared/error.ts'
import { type PostgresPlan, postgresPlans } from '../../../../shared/postgres.ts'
import { inOneChange } from '../../../platform/db/change.ts'
import { removeTree } from '../../../platform/files/tree/remove.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver, type Driver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { passwordPurpose } from '../../datastores/credential-store.ts'
import { datastoreById, type StoredDatastore, updateDatastore } from '../../datastores/store.ts'
import { ADMIN } from '../../postgres/roles.ts'
import { quoteName, quoteText, scramVerifier } from '../../postgres/sql.ts'
import { postgresById } from '../../postgres/store.ts'
import { layMaterial, targetOf } from '../postgres/material.ts'
import { materialFolder } from '../repository/layout.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import { backupsOf } from '../rows/backup-store.ts'
import { recoveryOf, removeRecovery, type StoredRecovery } from '../rows/recovery-store.ts'
import { chainOf } from '../rules/chain.ts'
import { recordBackupEvent } from './events.ts'
import { runRestore } from './owner.ts'

const MIB = 1024 * 1024

export const createRecoveries = (context: AppContext, deps: RepositoryDeps): Driver =>
  createDriver({
    run: async (id) => {
      const [datastore, recovery] = [datastoreById(context.db, id), recoveryOf(context.db, id)]
      if (datastore?.phase === 'recovering' && recovery !== undefined) await recover(context, deps, { datastore, recovery })
      return undefined
    },
    onError: (datastoreId, error) => {
      if (!context.stopping.aborted) context.log.error('database not recovered', { datastoreId, ...describeError(error) })
    },
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })

interface Recovering {
  datastore: StoredDatastore
  recovery: StoredRecovery
}

async function recover(context: AppContext, deps: RepositoryDeps, recovering: Recovering): Promise<void> {
  const { id } = recovering.datastore
  const begunAt = context.now()
  try {
    await restore(context, deps, recovering)
    context.stopping.throwIfAborted()
    settle(context, recovering, {
      phase: 'creating',
      event: 'postgres_restore_succeeded',
      details: { durationMs: context.now() - begunAt },
    })
  } catch (error) {
    if (context.stopping.aborted) throw error
    context.log.error('database not recovered', { datastoreId: id, ...describeError(error) })
    const reason = error instanceof AppError ? error.message : 'The platform failed at it; its own log says why. Try again.'
    settle(context, recovering, { phase: 'recovery_failed', event: 'postgres_restore_failed', details: { reason } })
  } finally {
    await removeTree(materialFolder(context.paths, id))
  }
}

async function restore(context: AppContext, deps: RepositoryDeps, { datastore, recovery }: Recovering): Promise<void> {
  const { id, number, volumeId, volumeKind: kind, sizeGb, version } = datastore
  const chain = chainOf(backupsOf(context.db, recovery.sourceId), recovery.backupId)
  if (chain === undefined) throw new AppError('unavailable', 'The backup is not whole any more. Recover to another moment.')
  const owner = { id, number }
  await context.engine.volumes.make({ id: volumeId, kind, sizeGb, owner })
  const at = Number(recovery.target)
  const until = recovery.target === 'immediate' ? 0 : Number.isNaN(at) ? undefined : at
  const material = { folder: materialFolder(context.paths, id), uid: number }
  await layMaterial(deps, material, { datastoreId: recovery.sourceId, chain, ...(until !== undefined && { until }) })
  const target = Number.isNaN(at) ? recovery.target : targetOf(at)
  const { isDone, output } = await runRestore(context, {
    ...{ id: `${id}.restore`, owner, version, volumeId, material: id, target },
    limits: limitsOf(datastore.plan),
    finishSql: finishSql(context, id),
  })
  if (!isDone) throw new AppError('unavailable', `The server did not come up with what was restored. ${lastWords(output)}`)
}

/** Memory for a checkpoint of what was replayed, and a processor of its own: a recovery is waited for. */
export function limitsOf(plan: string): { cpu: number; memoryBytes: number; pids: number } {
  const { memoryMb, cpu, pids } = postgresPlans[plan as PostgresPlan]
  return { cpu: Math.max(1, cpu), memoryBytes: memoryMb * MIB, pids }
}

const SHOWN = 400
const lastWords = (output: string): string =>
  output
    .trim()
    .split('\n')
    .filter((line) => /FATAL|PANIC|ERROR|error|cannot/.test(line))
    .slice(-2)
    .join(' ')
    .slice(-SHOWN)

/** Its roles have the passwords of the database that it was made of. Those of the tenant follow when its server comes up. */
function finishSql({ db, sealer }: AppContext, id: string): string {
  const own = postgresById(db, id)
  if (own === undefined) throw new Error(`The database ${id} has half of its row`)
  const admin = sealer.open(own.adminPasswordSealed, passwordPurpose(id, 'admin'))
  return `ALTER ROLE ${quoteName(ADMIN)} PASSWORD ${quoteText(scramVerifier(admin))};\n`
}

interface Outcome {
  phase: 'creating' | 'recovery_failed'
  event: 'postgres_restore_succeeded' | 'postgres_restore_failed'
  details: Record<string, unknown>
}

function settle(context: AppContext, { datastore, recovery }: Recovering, { phase, event, details }: Outcome): void {
  const { id, workspaceId, name } = datastore
  inOneChange(context.db, () => {
    removeRecovery(context.db, id)
    if (datastoreById(context.db, id)?.phase !== 'recovering') return
    const problem = typeof details.reason === 'string' ? details.reason : null
    updateDatastore(context.db, id, { phase, problem }, context.now())
    recordBackupEvent(context, { datastoreId: id, workspaceId, name }, event, {
      from: recovery.sourceId,
      backupId: recovery.backupId,
      ...details,
    })
    context.work.poke('datastore', id)
  })
}
