import { type DeployStatus, deployStatuses } from '../../../../shared/deploy.ts'
import { repositoryKey } from '../../../../shared/repository.ts'
import type { ReportState } from '../port.ts'
import type { DeployOfCommit, StoredReport } from '../store/reports.ts'
import { environmentOf } from './environment.ts'

interface Progress {
  state: ReportState
  description: string
}

/** Nothing of a log or a reason is told: repositories may be public, and programs print what they like. */
export const progress: Readonly<Record<DeployStatus, Progress>> = {
  created: { state: 'queued', description: 'Waiting to be deployed' },
  queued: { state: 'queued', description: 'Waiting to be deployed' },
  build_in_progress: { state: 'in_progress', description: 'Deploying' },
  pre_deploy_in_progress: { state: 'in_progress', description: 'Deploying' },
  update_in_progress: { state: 'in_progress', description: 'Deploying' },
  live: { state: 'success', description: 'Live' },
  deactivated: { state: 'inactive', description: 'Another deploy took its place' },
  build_failed: { state: 'failure', description: 'The build failed' },
  pre_deploy_failed: { state: 'failure', description: 'The pre-deploy command failed' },
  update_failed: { state: 'failure', description: 'It did not start, or was taken back' },
  canceled: { state: 'canceled', description: 'Canceled' },
}

export const wantedStates = Object.fromEntries(deployStatuses.map((status) => [status, progress[status].state])) as Record<
  DeployStatus,
  ReportState
>

/** Failed attempts after which a host is told of this state no more: with pauses of six hours at most, that is after a day. */
export const MAX_ATTEMPTS = 13

const isOver = (state: ReportState | null): boolean => state === null || ['failure', 'canceled', 'inactive'].includes(state)

/** The repository that a deploy is of, as a URL; undefined for one that was pushed to us, or is of another than the service has now. */
export function repositoryOf({ repo, sourceId, sourceRepository }: DeployOfCommit): string | undefined {
  if (repo === '') return undefined
  return sourceId === null || sourceRepository === repositoryKey(repo) ? repo : undefined
}

/** What is to be told of a deploy, by what was; undefined where nothing is. The newest state has all of its attempts before it. */
export function reportOf(
  deploy: DeployOfCommit,
  { before, workspaceId, domain, now }: { before: StoredReport | undefined; workspaceId: string; domain: string; now: number },
): StoredReport | undefined {
  const { state } = progress[deploy.status]
  if (before !== undefined) return stepTo(before, state, now)
  const repository = repositoryOf(deploy)
  if (repository === undefined || state === 'canceled' || state === 'inactive') return undefined
  const { id, serviceId, slug, commitId } = deploy
  const environment = environmentOf({ id: serviceId, slug }, domain)
  const untold = { installationId: null, told: null, reportId: null, problem: null, attempts: 0 }
  return { id, deployId: id, workspaceId, repository, environment, commitId, wanted: state, nextAttemptAt: now, ...untold }
}

/** What is to be told of a deploy that is gone with its service; undefined where the host knows that it is over. */
export function lastReportOf(before: StoredReport, now: number): StoredReport | undefined {
  return isOver(before.told) ? undefined : stepTo(before, before.told === 'success' ? 'inactive' : 'canceled', now)
}

function stepTo(before: StoredReport, wanted: ReportState, now: number): StoredReport | undefined {
  if (before.told === wanted) return undefined
  if (before.wanted !== wanted) return { ...before, wanted, attempts: 0, nextAttemptAt: now }
  return before.attempts < MAX_ATTEMPTS ? before : undefined
}
