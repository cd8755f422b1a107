import type { Deploy, Uploaded } from '../../../shared/deploy.ts'
import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { idPageOf, pageOf } from '../../http/answers/page.ts'
import { type Actor, answer, type Handlers } from '../../http/handlers/call.ts'
import { requirePlace } from '../../identity/quotas/enforce.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { presentSource, takeSource, type Upload, uploadLimits } from '../sources/operations.ts'
import { ownSource } from '../sources/share.ts'
import { planDeploy } from './deploy-plan.ts'
import { cancelDeploy, createDeploy, findRollbackTarget, noSuchDeploy, rollBack, secretsOf } from './operations.ts'
import { pruneReleases } from './prune.ts'
import { differencesOf } from './rollback-plan.ts'
import { findDeploy, listDeploys } from './store.ts'
import { strategyOf } from './strategy.ts'

type DeployIds = Extract<
  keyof Operations,
  'uploadSource' | 'planDeploy' | 'getUploadLimits' | 'listDeploys' | 'createDeploy' | 'getDeploy' | 'cancelDeploy' | 'rollback'
>

const triggerOf = (actor: Actor): 'manual' | 'api' => (actor.type === 'user' ? 'manual' : 'api')

function uploadIn({ body, headers }: Request): Pick<Upload<never>, 'body' | 'contentType' | 'expectedBytes'> {
  if (body === null) throw new AppError('bad_request', 'The body is empty. Send a tar.gz or zip archive.')
  const length = headers.get('content-length')
  return { body, contentType: headers.get('content-type') ?? '', ...(length === null ? {} : { expectedBytes: Number(length) }) }
}

export const deployRoutes: Handlers<DeployIds, AppContext> = {
  async uploadSource(call, context): Promise<Uploaded> {
    const { actor, params, query, request, signal, requireRight, change } = call
    const service = requireService(context, actor, params.serviceId)
    const body = uploadIn(request)
    requirePlace(context, service.workspaceId, 'uploads')
    const leave = context.uploads.take(service.workspaceId)
    const uploaded = await takeSource(context, {
      service,
      ...body,
      signal,
      requireRight,
      change,
      onKept(source) {
        // An upload takes its time: the service may have been suspended or deleted meanwhile.
        const current = requireService(context, actor, service.id)
        const isDeployed = query.deploy !== 'false' && current.suspendedAt === null
        const deploy = isDeployed ? createDeploy(context, current, { sourceId: source.id, trigger: triggerOf(actor) }) : undefined
        call.note({ metadata: { source: presentSource(source), ...(deploy !== undefined && { deployId: deploy.id }) } })
        const uploaded = { source: presentSource(source), ...(deploy === undefined ? {} : { deployId: deploy.id }) }
        call.keepAnswer(uploaded)
        return uploaded
      },
    }).finally(leave)
    // No deploy will do it: of sources that wait for one, the newest are kept.
    if (uploaded.deployId === undefined) await pruneReleases(context, service.id)
    return uploaded
  },

  async planDeploy({ actor, query, request, signal, change }, context) {
    const body = uploadIn(request)
    requirePlace(context, actor.workspaceId, 'uploads')
    const leave = context.uploads.take(actor.workspaceId)
    const plan = await planDeploy(context, { viewer: actor, query, upload: { ...body, signal } }).finally(leave)
    return change(() => plan)
  },

  getUploadLimits: (_, context) => uploadLimits(context),

  listDeploys({ actor, params, query }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    const page = idPageOf(query)
    return pageOf('deploy', listDeploys(context.db, id, { ...query, ...page }), (deploy) => [deploy.id])
  },

  createDeploy({ actor, params, body = {} }, context) {
    const service = requireService(context, actor, params.serviceId)
    const { sourceId } = body
    const source = sourceId === undefined ? {} : { sourceId: ownSource(context, actor, { service, sourceId }) }
    return createDeploy(context, service, { ...body, ...source, trigger: triggerOf(actor) })
  },

  getDeploy({ actor, params }, context): Deploy {
    const { id } = requireService(context, actor, params.serviceId)
    const deploy = findDeploy(context.db, id, params.deployId)
    if (deploy === undefined) throw noSuchDeploy(params.deployId)
    return deploy
  },

  cancelDeploy({ actor, params }, context) {
    return cancelDeploy(context, requireService(context, actor, params.serviceId), params.deployId)
  },

  rollback({ actor, params, body = {} }, context) {
    const service = requireService(context, actor, params.serviceId)
    const target = findRollbackTarget(context, service, body)
    if (body.dryRun !== true) return rollBack(context, service, target)
    const secrets = secretsOf(context, target)
    const from = {
      deployId: service.liveDeployId ?? '',
      artifact: target.live.artifact,
      settings: target.live.settings,
      secrets: secrets.from,
    }
    const to = { deployId: target.deploy.id, artifact: target.release.artifact, settings: target.release.settings, secrets: secrets.to }
    return answer(200, { ...differencesOf(from, to), strategy: strategyOf(context.db, service.id) })
  },
}
