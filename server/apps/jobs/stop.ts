import type { AppContext } from '../context.ts'
import type { StoredService } from '../services/store.ts'
import { jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import { endJob } from './finish.ts'

interface Stop {
  as: 'canceled' | 'failed'
  reason: string
  by?: string
}

export function requestStop(
  context: Pick<AppContext, 'db' | 'now'>,
  { job: seen, service }: { job: StoredJob; service: StoredService },
  { as, reason, by }: Stop,
): void {
  const { db } = context
  db.transaction(() => {
    const job = jobById(db, seen.id)
    if (job === undefined || job.finishedAt !== null || job.stopAs !== null) return
    updateJob(db, job.id, { stopAs: as, reason, canceledBy: by ?? null })
    if (job.phase === 'pending') endJob(context, { job, service }, { phase: as, exitCode: null, reason })
  })()
}
