import { type CommitReport, REPORT_CONTEXT } from '../../port.ts'
import { pathOf } from '../repository-path.ts'
import type { AskGithub } from './github.ts'
import { GithubDeployments, GithubMade } from './shapes.ts'

interface Reported {
  repository: string
  report: CommitReport
}

const statusStates = { queued: 'pending', in_progress: 'pending', success: 'success', failure: 'failure', inactive: 'success' } as const

/** Tells the state of a commit and of the deployment that it belongs to. Returns the deployment's id. */
export async function reportToGithub(ask: AskGithub, reported: Reported, signal: AbortSignal): Promise<string> {
  const { repository, report } = reported
  const { state, description, logUrl, serviceUrl } = report
  const context = `${REPORT_CONTEXT}${report.environment}`
  const status = { state: statusStates[state], context, description, target_url: logUrl }
  await ask(
    { method: 'POST', path: `${pathOf(repository)}/statuses/${encodeURIComponent(report.commit)}`, json: status },
    GithubMade,
    signal,
  )
  const deploymentId = report.reportId ?? (await deploymentOf(ask, reported, signal))
  const path = `${pathOf(repository)}/deployments/${encodeURIComponent(deploymentId)}/statuses`
  const progress = { state, description, log_url: logUrl, ...(serviceUrl !== undefined && { environment_url: serviceUrl }) }
  await ask({ method: 'POST', path, json: progress }, GithubMade, signal)
  return deploymentId
}

/** The deployment that an earlier try has made, of which we did not hear; else a new one. */
async function deploymentOf(ask: AskGithub, { repository, report }: Reported, signal: AbortSignal): Promise<string> {
  const { commit, environment, description } = report
  const path = `${pathOf(repository)}/deployments`
  const found = await ask(
    { path: `${path}?${new URLSearchParams({ sha: commit, environment, per_page: '1' })}` },
    GithubDeployments,
    signal,
  )
  // Without the word on contexts, GitHub refuses while the commit's checks go on.
  const json = { ref: commit, environment, description, auto_merge: false, required_contexts: [] }
  const { id } = found[0] ?? (await ask({ method: 'POST', path, json }, GithubMade, signal))
  return String(id)
}
