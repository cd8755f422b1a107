import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import type { Viewer } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import type { StoredService } from '../services/store.ts'
import { openJobs, type StoredJob } from '../workloads/job-store.ts'
import { enqueue } from './operations.ts'
import { requestStop } from './stop.ts'

export function requireCronJob(context: Pick<AppContext, 'db'>, actor: Viewer, id: string): StoredService {
  const service = requireService(context, actor, id)
  if (traitsOf(service.type).isScheduled) return service
  throw new AppError('not_found', `${id} is no cron job but a ${service.type}. A command runs in it as a job: POST /v1/services/{id}/jobs.`)
}

export function runNow(context: AppContext, service: StoredService, by: string): StoredJob {
  const { overlapPolicy } = service.controls.cron
  const running = runsOf(context, service)
  const [first] = running
  if (first !== undefined && overlapPolicy === 'skip') {
    throw new AppError('conflict', `Run ${first.id} is under way, and the overlap policy is skip. Wait for it, or cancel it first.`)
  }
  return context.db.transaction(() => {
    const run = enqueue(context, service, { kind: 'cron', startCommand: null, plan: null, triggeredBy: by })
    if (overlapPolicy === 'replace') stopAll(context, service, { runs: running, by, reason: `Replaced by ${run.id}.` })
    return run
  })()
}

export function cancelRuns(context: AppContext, service: StoredService, by: string): void {
  stopAll(context, service, { runs: runsOf(context, service), by, reason: 'Canceled on request.' })
  context.work.poke('jobs', service.id)
}

const runsOf = ({ db }: AppContext, { id }: StoredService): StoredJob[] => openJobs(db, id).filter(({ kind }) => kind === 'cron')

function stopAll(
  context: AppContext,
  service: StoredService,
  { runs, ...stop }: { runs: readonly StoredJob[]; by: string; reason: string },
): void {
  for (const job of runs) requestStop(context, { job, service }, { as: 'canceled', ...stop })
}
