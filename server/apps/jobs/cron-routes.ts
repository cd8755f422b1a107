import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { listJobs } from '../workloads/job-store.ts'
import { cancelRuns, requireCronJob, runNow } from './cron-operations.ts'
import { phasesOfRun } from './finish.ts'
import { presentRun } from './present.ts'

type CronJobIds = Extract<keyof Operations, 'runCronJob' | 'listCronJobRuns' | 'cancelCronJobRuns'>

export const cronJobRoutes: Handlers<CronJobIds, AppContext> = {
  runCronJob: ({ actor, params }, context) => presentRun(runNow(context, requireCronJob(context, actor, params.serviceId), actor.id)),
  listCronJobRuns({ actor, params, query }, context) {
    const { id } = requireCronJob(context, actor, params.serviceId)
    const runs = listJobs(context.db, id, {
      kind: 'cron',
      phases: query.status && phasesOfRun(query.status),
      ...idPageOf(query),
    })
    return pageOf('cronJobRun', runs.map(presentRun), ({ id: runId }) => [runId])
  },
  cancelCronJobRuns({ actor, params }, context) {
    cancelRuns(context, requireCronJob(context, actor, params.serviceId), actor.id)
  },
}
