import type { Deploy, DeployStatus } from '../../../../shared/deploy.ts'
import type { Log } from '../../../../shared/log.ts'
import { forViewer, showTime } from '../account/section.ts'
import { problemSummary } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'
import { show } from '../page/reply.ts'
import { problemOf } from '../page/request.ts'

const LOG_LINES = '100'

/** One deploy and the last lines of its log: where source hosts lead from what they show of a commit. */
export const showDeploy = forViewer(async ({ ask, url }, { email: viewer }) => {
  const asked = (name: string): string => url.searchParams.get(name) ?? ''
  const [workspaceId, serviceId, deployId] = [asked('ownerId'), asked('serviceId'), asked('deployId')]
  const found = await ask('getDeploy', { params: { serviceId, deployId }, workspaceId })
  if (!found.isDone) {
    const body = html`<div class="card">${problemSummary({ message: problemOf(found).message, fields: {} })}</div>`
    return show({ title: 'Deploy', viewer, status: found.status, body })
  }
  const log = await ask('listLogs', { query: { resource: serviceId, instance: deployId, type: 'build', limit: LOG_LINES }, workspaceId })
  const lines = log.isDone ? log.body.logs.toReversed() : []
  return show({ title: 'Deploy', viewer, body: html`<div class="card">${summaryOf(found.body)}${logOf(lines)}</div>` })
})

const words: Readonly<Record<DeployStatus, string>> = {
  created: 'Waiting',
  queued: 'Waiting',
  build_in_progress: 'Building',
  pre_deploy_in_progress: 'Running the pre-deploy command',
  update_in_progress: 'Starting',
  live: 'Live',
  deactivated: 'Was live, until another took its place',
  build_failed: 'The build failed',
  pre_deploy_failed: 'The pre-deploy command failed',
  update_failed: 'It did not start',
  canceled: 'Canceled',
}

const summaryOf = ({ id, status, createdAt, finishedAt, reason }: Deploy): Html => html`<p><strong>${words[status]}</strong></p>
${reason !== undefined && html`<p>${reason}</p>`}
<p class="quiet">${id}<br>Begun ${showTime(createdAt)}${finishedAt !== undefined && html`<br>Ended ${showTime(finishedAt)}`}</p>`

const logOf = (lines: readonly Log[]): Html =>
  lines.length === 0
    ? html`<p class="quiet">Nothing is in its log.</p>`
    : html`<pre>${lines.map(({ message }) => message).join('\n')}</pre>`
