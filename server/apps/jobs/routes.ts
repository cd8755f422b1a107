import type { JobQuery } from '../../../shared/job.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { type JobFilter, listJobs, type TimeRange } from '../workloads/job-store.ts'
import { cancelJob, createJob, requireJob } from './operations.ts'
import { phasesOfJob, presentJob } from './present.ts'

type JobIds = Extract<keyof Operations, 'createJob' | 'listJobs' | 'getJob' | 'cancelJob'>

export const jobRoutes: Handlers<JobIds, AppContext> = {
  createJob({ actor, params, body }, context) {
    const service = requireService(context, actor, params.serviceId)
    return presentJob(context, service, createJob(context, service, { ...body, by: actor.id }))
  },
  listJobs({ actor, params, query }, context) {
    const service = requireService(context, actor, params.serviceId)
    const jobs = listJobs(context.db, service.id, filterOf(query))
    return pageOf(
      'job',
      jobs.map((job) => presentJob(context, service, job)),
      ({ id }) => [id],
    )
  },
  getJob({ actor, params }, context) {
    const service = requireService(context, actor, params.serviceId)
    return presentJob(context, service, requireJob(context, service, { id: params.jobId, kind: 'one_off' }))
  },
  cancelJob({ actor, params }, context) {
    const service = requireService(context, actor, params.serviceId)
    return presentJob(context, service, cancelJob(context, service, { id: params.jobId, by: actor.id }))
  },
}

const filterOf = (query: JobQuery): JobFilter => ({
  kind: 'one_off',
  phases: query.status && phasesOfJob(query.status),
  createdAt: range(query.createdAfter, query.createdBefore),
  startedAt: range(query.startedAfter, query.startedBefore),
  finishedAt: range(query.finishedAfter, query.finishedBefore),
  ...idPageOf(query),
})

const range = (after: string | undefined, before: string | undefined): TimeRange => ({ after: time(after), before: time(before) })
const time = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text))
