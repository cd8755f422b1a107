import type { CommitReport } from '../../port.ts'
import { commitStatusOf } from '../commit-status.ts'
import { pathOf } from '../repository-path.ts'
import type { AskGithub } from './github.ts'
import { GithubDeployments, GithubMade } from './shapes.ts'

interface Reported {
  repository: string
  report: CommitReport
}

/** Tells the state of a commit and of the deployment that it belongs to. Returns the deployment's id. */
export async function reportToGithub(ask: AskGithub, reported: Reported, signal: AbortSignal): Promise<string> {
  const { repository, report } = reported
  const { state, description, logUrl, serviceUrl } = report
  const json = commitStatusOf(report)
  const statuses = `${pathOf(repository)}/statuses/${encodeURIComponent(report.commit)}`
  if (json !== undefined) await ask({ method: 'POST', path: statuses, json }, GithubMade, signal)
  const deploymentId = report.reportId ?? (await deploymentOf(ask, reported, signal))
  const path = `${pathOf(repository)}/deployments/${encodeURIComponent(deploymentId)}/statuses`
  const progress = {
    // GitHub has no word for a deploy that somebody called off.
    state: state === 'canceled' ? 'inactive' : state,
    description,
    log_url: logUrl,
    ...(serviceUrl !== undefined && { environment_url: serviceUrl }),
    // Another server may deploy the same repository by the same name.
    auto_inactive: false,
  }
  await ask({ method: 'POST', path, json: progress }, GithubMade, signal)
  return deploymentId
}

/** The deployment that an earlier try has made, of which we did not hear; else a new one. */
async function deploymentOf(ask: AskGithub, { repository, report }: Reported, signal: AbortSignal): Promise<string> {
  const { commit, environment, description, deployId } = report
  const path = `${pathOf(repository)}/deployments`
  const task = `deploy:${deployId}`
  const found = await ask(
    { path: `${path}?${new URLSearchParams({ sha: commit, environment, task, per_page: '1' })}` },
    GithubDeployments,
    signal,
  )
  // Without the word on contexts, GitHub refuses while the commit's checks go on.
  const json = { ref: commit, environment, task, description, auto_merge: false, required_contexts: [] }
  const { id } = found[0] ?? (await ask({ method: 'POST', path, json }, GithubMade, signal))
  return String(id)
}
