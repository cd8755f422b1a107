import { defaultShellSize, defaultTerminalName, type JobTerminalQuery } from '../../../shared/shell.ts'
import type { OpenTerminal } from '../../engines/port/port.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { deleteWorkload, insertWorkload } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { releaseById, type StoredRelease } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import { endJob, recordStart } from '../jobs/finish.ts'
import { addJob, oneOff } from '../jobs/operations.ts'
import { type Outcome, outcomeOf } from '../jobs/outcome.ts'
import { prepareWorkload } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'
import { JOB, jobById, type StoredJob, updateJob } from '../workloads/job-store.ts'
import type { ShellEnd } from './session.ts'
import { requireOwnTerminals } from './target.ts'

export interface TerminalJob {
  job: StoredJob
  release: StoredRelease
  deployId: string
}

/** Written down before its terminal is there; found without one, it ended unobserved. @throws AppError conflict when nothing is live. */
export function beginTerminalJob(
  context: AppContext,
  service: StoredService,
  { startCommand, planId, by }: Pick<JobTerminalQuery, 'startCommand' | 'planId'> & { by: string },
): TerminalJob {
  const { db } = context
  requireOwnTerminals(context.engine.capabilities)
  return db.transaction(() => {
    const { id } = addJob(context, service, oneOff(context, service, { startCommand, ...(planId !== undefined && { planId }), by }))
    const deploy = deployById(db, service.liveDeployId ?? '')
    const release = releaseById(db, deploy?.releaseId ?? '')
    if (deploy === undefined || release === undefined) throw new Error('A live service has no release')
    const spec = { deployId: deploy.id, releaseId: release.id }
    const startedAt = context.now()
    updateJob(db, id, { phase: 'running', ...spec, startedAt })
    insertWorkload(db, { ...JOB, id, ownerId: service.id, spec, phase: 'running', startedAt, createdAt: startedAt })
    const job = jobById(db, id)
    if (job === undefined) throw new Error('A job that was just written is gone')
    recordStart(context, { job, service })
    return { job, release, deployId: deploy.id }
  })()
}

export async function openJobTerminal(
  context: AppContext,
  service: StoredService,
  { job, release, deployId }: TerminalJob,
  { query, onOutput }: { query: JobTerminalQuery; onOutput: (bytes: Uint8Array) => void },
): Promise<OpenTerminal> {
  const own = { command: query.startCommand, ...(job.plan !== null && { plan: job.plan }) }
  const { instanceId, outputName, ...spec } = await prepareWorkload(context, {
    service,
    release,
    workload: { id: job.id, deployId, ...own },
  })
  return await context.engine.openTerminal({
    ...spec,
    env: (view) => ({ ...spec.env(view), TERM: query.term ?? defaultTerminalName }),
    terminalId: job.id,
    columns: query.columns ?? defaultShellSize.columns,
    rows: query.rows ?? defaultShellSize.rows,
    onOutput,
  })
}

export function endTerminalJob(context: AppContext, service: StoredService, jobId: string, end: ShellEnd): void {
  inOneChange(context.db, () => {
    deleteWorkload(context.db, jobId)
    const job = jobById(context.db, jobId)
    if (job !== undefined) endJob(context, { job, service }, terminalOutcomeOf(job, end))
  })
  context.work.poke('jobs', service.id)
  context.work.poke('service', service.id)
}

const terminalOutcomeOf = (job: StoredJob, end: ShellEnd): Outcome =>
  'reason' in end && job.stopAs === null
    ? { phase: 'canceled', exitCode: null, reason: `${end.reason}.` }
    : outcomeOf(job, 'reason' in end ? undefined : end)
