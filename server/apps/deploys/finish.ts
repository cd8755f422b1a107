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

/** Writes a deploy's end down. The only place where one ends; belongs in the transaction of what ended it. One that is taken back ends twice. */
export function endDeploy(
  context: Pick<AppContext, 'db' | 'now'>,
  { deploy, owner }: { deploy: StoredDeploy; owner: Pick<Owner, 'id' | 'workspaceId'> },
  ending: Ending,
): void {
  const now = context.now()
  const { status, reason } = ending
  endStage(context, { deploy: deployById(context.db, deploy.id) ?? deploy, owner }, status)
  forgetStepEnds(context.db, deploy.id)
  updateDeploy(context.db, deploy.id, { status, finishedAt: now, ...(reason === undefined ? {} : { reason }) }, now)
  const details = { deployId: deploy.id, status, ...(reason === undefined ? {} : { reason }) }
  recordEvent(context.db, { owner, type: 'deploy_ended', details, now })
}

type Stage = Pick<StoredDeploy, 'id' | 'status' | 'releaseId'>

/** What a deploy has begun and not ended, by the event that tells its end. */
export function openStageOf({ status, releaseId }: Omit<Stage, 'id'>): 'build_ended' | 'pre_deploy_ended' | undefined {
  if (status === 'build_in_progress' && releaseId === null) return 'build_ended'
  return status === 'pre_deploy_in_progress' ? 'pre_deploy_ended' : undefined
}

/** Tells the end of what a deploy had begun; belongs in the transaction after which it is no longer under way. */
export function endStage(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { deploy, owner }: { deploy: Stage; owner: Pick<Owner, 'id' | 'workspaceId'> },
  status: 'succeeded' | Ending['status'],
): void {
  const type = openStageOf(deploy)
  if (type !== undefined) recordEvent(db, { owner, type, details: { deployId: deploy.id, status }, now: now() })
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
