import type { Deploy, DeployCreate, DeployTrigger, RollbackBody } from '../../../shared/deploy.ts'
import { isDeployRunning } from '../../../shared/deploy.ts'
import { AppError, invalidValue } from '../../../shared/error.ts'
import { isCommitId, isRefName } from '../../../shared/repository.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import type { StoredService } from '../services/store.ts'
import { commitOf, findSource, latestSource, type StoredCommit } from '../sources/store.ts'
import { secretsForRelease } from '../variables/resolved.ts'
import { endDeploy } from './finish.ts'
import { insertRelease, releaseById, releaseSecrets, type StoredRelease } from './release-store.ts'
import { deployById, findDeploy, insertDeploy, previousLive, type StoredDeploy, unfinishedDeploys, updateDeploy } from './store.ts'

export interface DeployRequest extends DeployCreate {
  trigger: DeployTrigger
  commitMessage?: string
}

/** Clients of Render's API deploy without a source, too, whose build fails. @throws AppError conflict while suspended, not_found for a source that is not of the service. */
export function createDeploy(context: AppContext, service: StoredService, request: DeployRequest): Deploy {
  refuseSuspended(service)
  const ref = wantedRef(service, request)
  const hasAny = service.liveDeployId !== null || latestSource(context.db, service.id) !== undefined
  const isAgain = request.deployMode === 'deploy_only' && hasAny
  if (isAgain) return deployAgain(context, service, request.trigger)
  const isFetched = request.sourceId === undefined && service.labels.repo !== ''
  if (isFetched) refuseUnapproved(service, ref)
  return isFetched ? deployRef(context, service, { ...request, ref }) : deploySource(context, service, request)
}

function wantedRef({ labels: { repo } }: StoredService, { sourceId, commitId = '', ref = '', deployMode }: DeployRequest): string {
  const wanted = commitId || ref
  if (wanted === '') return ''
  const pointer = commitId === '' ? '/ref' : '/commitId'
  if (repo === '')
    throw invalidValue(
      pointer,
      'The service has no repository, so there is no commit to deploy. Give it one with `repo`, or leave this out.',
    )
  if (sourceId !== undefined || deployMode === 'deploy_only' || (commitId !== '' && ref !== '' && ref !== commitId))
    throw invalidValue(pointer, 'Name one thing to deploy: sourceId, commitId, ref, or the live build by deployMode.')
  if (!isRefName(wanted)) throw invalidValue(pointer, 'This can be no branch, tag or commit of git.')
  return wanted
}

/** What a branch of a fork stands at may have changed since somebody looked, so that the very commit has to be named. */
function refuseUnapproved({ foreignCommit }: StoredService, ref: string): void {
  if (foreignCommit === null || ref === foreignCommit) return
  throw new AppError(
    'conflict',
    `This is a preview of a fork: nothing but the approved commit ${foreignCommit} is deployed. Approve another: cpctl previews approve.`,
  )
}

/** Which commit it is comes to light when it is fetched, unless it was named whole. */
function deployRef(context: AppContext, service: StoredService, request: DeployRequest): Deploy {
  const { ref = '', commitMessage } = request
  return enqueue(context, service, {
    trigger: request.trigger,
    sourceId: null,
    ...(ref !== '' && { ref }),
    ...(isCommitId(ref) && { commitId: ref }),
    ...(commitMessage !== undefined && { commitMessage }),
    isCacheCleared: request.clearCache === 'clear',
    release: () => null,
  })
}

function deploySource(context: AppContext, service: StoredService, request: DeployRequest): Deploy {
  const { sourceId } = request
  const source = sourceId === undefined ? latestSource(context.db, service.id) : findSource(context.db, service.id, sourceId)
  if (source === undefined && sourceId !== undefined) throw new AppError('not_found', `There is no source ${sourceId} of this service.`)
  return enqueue(context, service, {
    trigger: request.trigger,
    sourceId: source?.id ?? null,
    ...(source && commitOf(source)),
    isCacheCleared: request.clearCache === 'clear',
    release: () => null,
  })
}

function deployAgain(context: AppContext, service: StoredService, trigger: DeployTrigger): Deploy {
  const live = liveNow(context, service)
  return enqueue(context, service, {
    trigger,
    sourceId: live.release.sourceId,
    ...commitOf(live.deploy),
    isCacheCleared: false,
    release: (now) => {
      const release = { ...live.release, id: newId('release', now), settings: service.settings, createdAt: now }
      insertRelease(context, release, secretsForRelease(context, service))
      return release.id
    },
  })
}

export interface RollbackTarget {
  deploy: StoredDeploy
  release: StoredRelease
  live: StoredRelease
}

/** @throws AppError conflict when the release to go back to is not kept; not_found for a strange id. */
export function findRollbackTarget(
  context: AppContext,
  service: StoredService,
  { deployId }: Pick<RollbackBody, 'deployId'>,
): RollbackTarget {
  const live = liveNow(context, service).release
  const deploy = deployId === undefined ? previousLive(context.db, service.id) : deployById(context.db, deployId)
  if (deployId !== undefined && deploy?.serviceId !== service.id) throw noSuchDeploy(deployId)
  if (deploy === undefined) throw new AppError('conflict', 'There is no earlier release to go back to.')
  if (deploy.status !== 'live' && deploy.status !== 'deactivated') {
    throw new AppError(
      'conflict',
      `Deploy ${deploy.id} was never live, or did not stay so: there is nothing to go back to. \`cpctl deploys list\` shows those that were.`,
    )
  }
  const release = deploy.releaseId === null ? undefined : releaseById(context.db, deploy.releaseId)
  if (release === undefined) {
    throw new AppError('conflict', `The release of ${deploy.id} is no longer kept; the newest ${context.config.CP_RELEASES_KEPT} are.`)
  }
  return { deploy, release, live }
}

/** Goes back to an earlier release. A deploy on its way gives way: a rollback is for when things are wrong. */
export function rollBack(context: AppContext, service: StoredService, { deploy, release }: RollbackTarget): Deploy {
  refuseSuspended(service)
  for (const unfinished of unfinishedDeploys(context.db, service.id)) requestCancel(context, service, unfinished)
  return enqueue(context, service, {
    trigger: 'rollback',
    sourceId: release.sourceId,
    ...commitOf(deploy),
    isCacheCleared: false,
    rollbackOf: deploy.id,
    release: () => release.id,
  })
}

export function cancelDeploy(context: AppContext, service: StoredService, deployId: string): Deploy {
  const deploy = deployById(context.db, deployId)
  if (deploy === undefined || deploy.serviceId !== service.id) throw noSuchDeploy(deployId)
  if (!isDeployRunning(deploy.status)) throw new AppError('conflict', `Deploy ${deployId} has already ended (${deploy.status}).`)
  requestCancel(context, service, deploy)
  return presented(context, deploy)
}

export const secretsOf = (context: AppContext, target: RollbackTarget) => ({
  from: releaseSecrets(context, target.live.id),
  to: releaseSecrets(context, target.release.id),
})

interface Enqueued extends Partial<StoredCommit> {
  ref?: string
  trigger: DeployTrigger
  sourceId: string | null
  isCacheCleared: boolean
  rollbackOf?: string
  release(now: number): string | null
}

function enqueue(context: AppContext, service: StoredService, { release, rollbackOf, ...deploy }: Enqueued): Deploy {
  const now = context.now()
  const id = newId('deploy', now)
  const replaced = unfinishedDeploys(context.db, service.id).filter(({ status }) => status === 'queued')
  withinQuotas(context, service.workspaceId, () => {
    for (const waiting of replaced)
      endDeploy(context, { deploy: waiting, owner: service }, { status: 'canceled', reason: `Replaced by ${id}.` })
    insertDeploy(context.db, {
      ...deploy,
      id,
      serviceId: service.id,
      releaseId: release(now),
      rollbackOf: rollbackOf ?? null,
      createdAt: now,
    })
  })
  context.work.poke('deploys')
  return presented(context, { id, serviceId: service.id })
}

function requestCancel(context: AppContext, service: StoredService, deploy: StoredDeploy): void {
  if (deploy.status === 'queued') {
    context.db.transaction(() => endDeploy(context, { deploy, owner: service }, { status: 'canceled', reason: 'Canceled on request.' }))()
    return
  }
  updateDeploy(context.db, deploy.id, { cancelRequestedAt: context.now() }, context.now())
  if (deploy.status === 'update_in_progress') context.work.poke('service', service.id)
  else context.work.interruptDeploy(deploy.id)
}

function liveNow(context: AppContext, service: StoredService): { deploy: StoredDeploy; release: StoredRelease } {
  const live = service.liveDeployId === null ? undefined : deployById(context.db, service.liveDeployId)
  const release = live?.releaseId == null ? undefined : releaseById(context.db, live.releaseId)
  if (live === undefined || release === undefined) throw new AppError('conflict', 'Nothing of this service is live yet. Deploy it first.')
  return { deploy: live, release }
}

function refuseSuspended(service: StoredService): void {
  if (service.suspendedAt !== null) throw new AppError('conflict', 'The service is suspended. Resume it first.')
}

function presented(context: AppContext, { id, serviceId }: { id: string; serviceId: string }): Deploy {
  const deploy = findDeploy(context.db, serviceId, id)
  if (deploy === undefined) throw noSuchDeploy(id)
  return deploy
}

export const noSuchDeploy = (id: string): AppError =>
  new AppError('not_found', `There is no deploy ${id} of this service. GET /v1/services/{id}/deploys lists those there are.`)
