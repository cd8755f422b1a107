import { describeError } from '../../platform/server-log.ts'
import type { Keeping } from './keeping.ts'
import { moveWorkload, type StoredWorkload, updateWorkload } from './store.ts'

/** Written down before the engine does it, so that one that may be frozen is never taken for one that is not. */
export async function freezeReplica(keeping: Keeping, workload: StoredWorkload): Promise<void> {
  const { db, engine, frozen, log, now } = keeping
  if (!moveWorkload(db, workload, { frozenAt: workload.frozenAt ?? now() })) return
  try {
    await engine.freeze(workload.id)
    frozen.add(workload.id)
  } catch (error) {
    const { onFreezeFailed } = keeping.ownerOf(workload)
    if (onFreezeFailed === undefined) throw error
    log.error('workload not frozen', { workloadId: workload.id, ownerId: workload.ownerId, ...describeError(error) })
    onFreezeFailed(workload)
  }
}

export async function thawReplica({ db, engine, frozen }: Keeping, { id }: StoredWorkload): Promise<void> {
  frozen.delete(id)
  await engine.thaw(id)
  // One that is dead is left as it is, for its owner to see that it died in its sleep.
  if ((await engine.inspect(id))?.status === 'running') updateWorkload(db, id, { frozenAt: null })
}
