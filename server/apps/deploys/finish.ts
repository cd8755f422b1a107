import type { DeployStatus } from '../../../shared/deploy.ts'
import type { Owner } from '../../runtime/owner.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { serviceById } from '../services/store.ts'
import { forgetStepEnds } from '../workloads/step-store.ts'
import { closeDeployLog, writeDeployLog } from './deploy-log.ts'
import { pruneReleases } from './prune.ts'
import { deployById, type StoredDeploy, updateDeploy } from './store.ts'

export interface Ending {
  status: Extract<DeployStatus, 'live' | 'build_failed' | 'pre_deploy_failed' | 'update_failed' | 'canceled'>
  reason?: string
}

/** Writes a deploy's end down. The only place where one ends; belongs in the transaction of what ended it. */
export function endDeploy(
  context: Pick<AppContext, 'db' | 'now'>,
  { deploy, owner }: { deploy: StoredDeploy; owner: Pick<Owner, 'id' | 'workspaceId'> },
  ending: Ending,
): void {
  const now = context.now()
  const { status, reason } = ending
  forgetStepEnds(context.db, deploy.id)
  updateDeploy(context.db, deploy.id, { status, finishedAt: now, ...(reason === undefined ? {} : { reason }) }, now)
  const details = { deployId: deploy.id, status, ...(reason === undefined ? {} : { reason }) }
  recordEvent(context.db, { owner, type: 'deploy_ended', details, now })
}

/** Reports the end, clears up after the deploy and has the next one begin. Repeatable. */
export async function settleDeploy(context: AppContext, deployId: string): Promise<void> {
  const deploy = deployById(context.db, deployId)
  if (deploy?.finishedAt == null) return
  const isServing = serviceById(context.db, deploy.serviceId)?.liveDeployId != null
  writeDeployLog(
    context,
    deploy,
    isServing && deploy.status.endsWith('_failed') ? `${sentence(endingLine(deploy))} ${fallBackLine(deploy)}` : endingLine(deploy),
  )
  await closeDeployLog(context, deploy)
  await pruneReleases(context, deploy.serviceId)
  context.work.poke('deploys')
}

/** A reason may end with the last words of a program. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

const fallBackLine = ({ status, strategy }: StoredDeploy): string =>
  status !== 'build_failed' && strategy === 'stop_first' ? 'What was live before is started again.' : 'What was live before still serves.'

function endingLine(deploy: StoredDeploy): string {
  const reason = deploy.reason === null ? '' : ` ${deploy.reason}`
  switch (deploy.status) {
    case 'live':
    case 'deactivated':
      return 'Live.'
    case 'canceled':
      return `Canceled.${reason}`
    default:
      return `Failed (${deploy.status}).${reason}`
  }
}
