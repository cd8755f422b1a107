import { AppError } from '../../../../shared/error.ts'
import type { Operations } from '../../../../shared/operations/all.ts'
import { parseRepositoryUrl } from '../../../../shared/repository.ts'
import type { Instance } from '../../../../shared/service.ts'
import { detailsIn } from '../../../../shared/service-details.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../../http/answers/page.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import { requireProtectedRight } from '../../../identity/scopes/protection.ts'
import { isCrashLooping } from '../../../runtime/workloads/backoff.ts'
import type { AppContext } from '../../context.ts'
import { createDeploy } from '../../deploys/operations.ts'
import { placeOfNew } from '../../projects/place-of-new.ts'
import { binderFor } from '../../variables/bind.ts'
import { instancesOf, type StoredInstance } from '../../workloads/instance-store.ts'
import { deleteService } from '../delete.ts'
import { serviceFilter } from '../filter.ts'
import { requireService } from '../require.ts'
import { type StoredService, selectServices } from '../store.ts'
import { createService, patchService, restartService, resumeService, scaleService, suspendService } from './operations.ts'
import { plannedMove } from './place.ts'
import { presentService } from './present.ts'
import { takesAway } from './takes-away.ts'

type ServiceIds = Extract<
  keyof Operations,
  | 'listServices'
  | 'createService'
  | 'getService'
  | 'updateService'
  | 'deleteService'
  | 'suspendService'
  | 'resumeService'
  | 'restartService'
  | 'scaleService'
  | 'listInstances'
>

export const serviceRoutes: Handlers<ServiceIds, AppContext> = {
  listServices({ actor, query }, context) {
    const { where, values } = serviceFilter(actor, query, idAfter(query.cursor))
    const services = selectServices(context.db, { where, values, limit: query.limit ?? DEFAULT_PAGE_ITEMS })
    return pageOf(
      'service',
      services.map((service) => presentService(context, service)),
      (service) => [service.id],
    )
  },
  createService({ actor, body }, context) {
    if (detailsIn(body).disk != null && !actor.permissions.has('disks.manage'))
      throw new AppError(
        'forbidden',
        'A service with a disk needs the permission disks.manage. Create it without one, or ask for the permission.',
      )
    const environmentId = placeOfNew(context, actor, { wanted: body.environmentId, things: 'services' })
    const bind = binderFor(context, actor, { environmentId, isService: true })
    const service = createService(context, { workspaceId: actor.workspaceId, environmentId, bind }, body)
    context.work.poke('service', service.id)
    if (!isFetchedWhenMade(service)) return { service: presentService(context, service) }
    const { id: deployId } = createDeploy(context, service, { trigger: actor.type === 'user' ? 'manual' : 'api' })
    return { service: presentService(context, service), deployId }
  },
  getService: ({ actor, params }, context) => presentService(context, requireService(context, actor, params.serviceId)),
  async updateService({ actor, params, query, body, change }, context) {
    const current = () => {
      const service = requireService(context, actor, params.serviceId)
      if (takesAway(service, detailsIn(body))) requireProtectedRight(context.db, actor, service.environmentId)
      return service
    }
    const { environmentId } = body
    const move = await plannedMove(context, actor, { service: current(), environmentId, isForced: query.force === true })
    return presentService(context, await patchService(context, current, { body, change, move }))
  },
  deleteService({ actor, params, query }, context) {
    const service = requireService(context, actor, params.serviceId)
    if (query.mode === 'suspend') suspendService(context, service)
    else deleteService(context, service)
  },
  suspendService({ actor, params }, context) {
    suspendService(context, requireService(context, actor, params.serviceId))
  },
  resumeService({ actor, params }, context) {
    resumeService(context, requireService(context, actor, params.serviceId))
  },
  restartService({ actor, params }, context) {
    restartService(context, requireService(context, actor, params.serviceId))
  },
  scaleService({ actor, params, body }, context) {
    const service = requireService(context, actor, params.serviceId)
    if (takesAway(service, body)) requireProtectedRight(context.db, actor, service.environmentId)
    scaleService(context, service, body.numInstances)
  },
  listInstances({ actor, params }, context) {
    const service = requireService(context, actor, params.serviceId)
    return instancesOf(context.db, service.id).map((instance) => presentInstance(instance, service, context.now()))
  },
}

/** By ssh it is let in once its deploy key has been put there, which did not exist until now. */
const isFetchedWhenMade = ({ labels: { repo } }: StoredService): boolean => repo !== '' && parseRepositoryUrl(repo)?.scheme !== 'ssh'

function presentInstance(instance: StoredInstance, service: StoredService, now: number): Instance {
  return {
    id: instance.id,
    createdAt: new Date(instance.createdAt).toISOString(),
    status: statusOf(instance, service, now),
    ...(instance.startedAt === null ? {} : { startedAt: new Date(instance.startedAt).toISOString() }),
    restarts: instance.restarts,
  }
}

/** An instance that keeps dying is shown as such, even in the moments in which it runs. */
function statusOf(instance: StoredInstance, { guard }: StoredService, now: number): Instance['status'] {
  if (instance.phase === 'draining') return 'draining'
  const exitTimes = instance.exits.map((exit) => exit.at)
  if (isCrashLooping(exitTimes, now)) return 'crash_looping'
  if (instance.phase === 'pending') return instance.exits.length > 0 ? 'restarting' : 'starting'
  if (instance.frozenAt !== null) return 'asleep'
  const { deployId, generation } = guard?.previous ?? {}
  if (instance.phase !== 'starting' && instance.deployId === deployId && instance.generation === generation) return 'standby'
  return instance.phase === 'serving' ? 'running' : 'starting'
}
