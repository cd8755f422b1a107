import { unlessAborted } from '../../platform/work/unless-aborted.ts'
import type { AppContext } from '../context.ts'
import { releaseById } from '../deploys/release-store.ts'
import { defaultSettings } from '../services/settings.ts'
import type { StoredService } from '../services/store.ts'
import { jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'

interface Stop {
  as: 'canceled' | 'failed'
  reason: string
  /** Id of who asked for it. */
  by?: string
}

/** Writes down that a job is to be stopped: one that waits has ended with that, one that runs will. The first to ask gives the reason. */
export function requestStop(
  context: Pick<AppContext, 'db' | 'now'>,
  { job: seen, service }: { job: StoredJob; service: StoredService },
  { as, reason, by }: Stop,
): void {
  context.db.transaction(() => {
    const job = jobById(context.db, seen.id)
    if (job === undefined || job.finishedAt !== null || job.stopAs !== null) return
    updateJob(context.db, job.id, { stopAs: as, reason, canceledBy: by ?? null })
    if (job.phase === 'pending') endJob(context, { job, service }, { phase: as, exitCode: null, reason })
  })()
}

/**
 * Stops the processes of a job whose stop is written down. Its end is told by the engine, to whoever listens.
 *
 * @throws the signal's reason when aborted.
 */
export async function stopJob(context: AppContext, job: StoredJob, signal: AbortSignal): Promise<void> {
  const release = job.releaseId === null ? undefined : releaseById(context.db, job.releaseId)
  const { maxShutdownDelaySeconds } = release?.settings ?? defaultSettings
  // What is being stopped ends without us, and the next control plane sees to the rest.
  await unlessAborted(context.engine.stop(job.id, { graceMs: maxShutdownDelaySeconds * 1000 }), signal)
}
