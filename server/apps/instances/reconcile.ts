import { isDeployRunning } from '../../../shared/deploy.ts'
import { newInstanceId } from '../../platform/id.ts'
import type { Supervisor } from '../../runtime/workloads/supervisor.ts'
import type { AppContext } from '../context.ts'
import { endDeploy } from '../deploys/finish.ts'
import { deployById } from '../deploys/store.ts'
import { recordEvent } from '../events/store.ts'
import { reasonWithLastWords } from '../launch/last-words.ts'
import { ownPortOf, preferredPortOf } from '../launch/preferred-port.ts'
import { removeService } from '../services/delete.ts'
import { type StoredService, serviceById, updateService } from '../services/store.ts'
import { insertInstance, instanceById, instancesOf, portOfRelease, updateInstance } from '../workloads/instance-store.ts'
import { noteDowntimeEnd, noteDowntimeStart } from './downtime.ts'
import { endGuard, flipBack } from './guard.ts'
import { type Action, type InstanceSet, nextDueAt, planService } from './plan.ts'
import { situationOf } from './situation.ts'
import { fallAsleep, rest, thaw, wake } from './sleep.ts'
import { concludeDeploy, switchTo } from './switch.ts'

const MAX_ROUNDS = 50
const STUCK_RETRY_MS = 5000

export async function reconcileService(context: AppContext, supervisor: Supervisor, serviceId: string): Promise<number | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await observe(context, supervisor, serviceId)
    const service = serviceById(context.db, serviceId)
    if (service === undefined) return undefined
    const situation = situationOf(context, service)
    const actions = planService(situation)
    if (actions.length === 0) {
      await context.routes.publish()
      return nextDueAt(situation)
    }
    for (const action of actions) {
      // Acting takes time, in which a cancel, a restart or a suspension may come: an end is decided on what is true now.
      if (isEnd(action) && action !== actions[0]) break
      await (action.kind === 'launch' ? supervisor.start(action.instanceId) : act(context, service, action))
    }
  }
  context.log.error('plan does not settle', { serviceId })
  return context.now() + STUCK_RETRY_MS
}

const isEnd = ({ kind }: Action): boolean =>
  kind === 'switch' || kind === 'fail_candidate' || kind === 'abandon_restart' || kind === 'remove_service'

async function observe({ db }: AppContext, supervisor: Supervisor, serviceId: string): Promise<void> {
  for (const { id } of instancesOf(db, serviceId)) await supervisor.supervise(id)
}

async function act(context: AppContext, service: StoredService, action: Exclude<Action, { kind: 'launch' }>): Promise<void> {
  switch (action.kind) {
    case 'create':
      return createInstance(context, service, action.set)
    case 'serve':
      await context.routes.publish()
      return markServing(context, service, action.instanceId)
    case 'switch':
      switchTo(context, service, action.to)
      return await context.routes.publish()
    case 'conclude_candidate':
      // Nobody is told that a deploy is live before requests reach it.
      await context.routes.publish()
      noteDowntimeEnd(context, service, action.deployId)
      concludeDeploy(context, service, action.deployId)
      return context.work.deployEnded(action.deployId)
    case 'drain':
      return await beginDrain(context, service, action.instanceIds)
    case 'fail_candidate':
      return endCandidate(context, service, action.deployId, {
        status: 'update_failed',
        reason: await reasonWithLastWords(context, action),
      })
    case 'cancel_candidate':
      return endCandidate(context, service, action.deployId, { status: 'canceled', reason: action.reason })
    case 'abandon_restart':
      return abandonRestart(context, service, action.reason)
    case 'end_guard':
      return endGuard(context, service, action.because)
    case 'flip_back':
      flipBack(context, service, action.verdict)
      return await context.routes.publish()
    case 'remove_service':
      return await removeService(context, service)
    case 'fall_asleep':
      return await fallAsleep(context, service, action.how)
    case 'rest':
      return await rest(context, service, action)
    case 'wake':
      return void wake(context, service.id, action.because)
    case 'thaw':
      return await thaw(context, action.instanceIds)
    default:
      return action satisfies never
  }
}

function createInstance(context: AppContext, service: StoredService, set: InstanceSet): void {
  const releaseId = deployById(context.db, set.deployId)?.releaseId
  if (releaseId == null) return
  const ownPort = ownPortOf(context, service, releaseId)
  insertInstance(context.db, {
    ...set,
    id: newInstanceId(service.id),
    serviceId: service.id,
    releaseId,
    port: portOfRelease(context.db, releaseId) ?? preferredPortOf({ ownPort }),
    ownPort,
    createdAt: context.now(),
  })
}

/** The instance may have died while the routes were on their way. */
function markServing({ db, now }: AppContext, service: StoredService, instanceId: string): void {
  if (instanceById(db, instanceId)?.phase !== 'ready') return
  db.transaction(() => {
    updateInstance(db, instanceId, { phase: 'serving' })
    recordEvent(db, { owner: service, type: 'server_available', details: { instanceId }, now: now() })
  })()
}

/** Out of the routes first, so that nothing new reaches it; what runs of it is waited for in the background. */
async function beginDrain(context: AppContext, service: StoredService, instanceIds: readonly string[]): Promise<void> {
  const drainingAt = context.now()
  context.db.transaction(() => {
    noteDowntimeStart(context, service, instanceIds)
    for (const id of instanceIds) updateInstance(context.db, id, { phase: 'draining', drainingAt })
  })()
  await context.routes.publish()
}

function endCandidate(
  context: AppContext,
  service: StoredService,
  deployId: string,
  ending: { status: 'update_failed' | 'canceled'; reason: string },
): void {
  context.db.transaction(() => {
    const deploy = deployById(context.db, deployId)
    if (deploy !== undefined && isDeployRunning(deploy.status)) endDeploy(context, { deploy, owner: service }, ending)
  })()
  context.work.deployEnded(deployId)
}

function abandonRestart(context: AppContext, service: StoredService, reason: string): void {
  context.db.transaction(() => {
    const now = context.now()
    // Its instances go in the same step: the next restart has the same generation, and must not take them for its own.
    for (const instance of instancesOf(context.db, service.id)) {
      const isLive = instance.deployId === service.liveDeployId && instance.generation === service.liveGeneration
      if (!isLive && instance.phase !== 'draining') updateInstance(context.db, instance.id, { phase: 'draining', drainingAt: now })
    }
    updateService(context.db, service.id, { generation: service.liveGeneration }, now)
    recordEvent(context.db, { owner: service, type: 'server_failed', details: { reason: `The restart was given up. ${reason}` }, now })
  })()
}
