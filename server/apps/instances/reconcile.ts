import { isDeployRunning } from '../../../shared/deploy.ts'
import type { AppContext } from '../context.ts'
import { endDeploy } from '../deploys/finish.ts'
import { deployById } from '../deploys/store.ts'
import { recordEvent } from '../events/store.ts'
import { reasonWithLastWords } from '../launch/last-words.ts'
import { removeService } from '../services/delete.ts'
import { type StoredService, serviceById, updateService } from '../services/store.ts'
import { instanceById, updateInstance } from '../workloads/instance-store.ts'
import { desiredSet, instanceSetsIn, setIdOf, setOwnerOf } from '../workloads/service-sets.ts'
import { noteDowntimeEnd } from './downtime.ts'
import { endGuard, flipBack } from './guard.ts'
import { type Action, nextDueAt, planService } from './plan.ts'
import { situationOf } from './situation.ts'
import { fallAsleep, rest, wake } from './sleep.ts'
import { concludeDeploy, switchTo } from './switch.ts'

const MAX_ROUNDS = 50
const STUCK_RETRY_MS = 5000

export async function reconcileService(context: AppContext, serviceId: string): Promise<number | undefined> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    // What an earlier control plane has written of instances may be wrong by now.
    if (!context.sets.isKnown(setOwnerOf(serviceId))) return undefined
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
      await act(context, service, action)
    }
  }
  context.log.error('plan does not settle', { serviceId })
  return context.now() + STUCK_RETRY_MS
}

const isEnd = ({ kind }: Action): boolean =>
  kind === 'switch' || kind === 'fail_candidate' || kind === 'abandon_restart' || kind === 'remove_service'

async function act(context: AppContext, service: StoredService, action: Action): Promise<void> {
  switch (action.kind) {
    case 'apply':
      return applySet(context, service, action)
    case 'drop':
      return context.sets.drop(setIdOf(action.set))
    case 'replace':
      return context.sets.replace(action.instanceId)
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
      return context.sets.freeze(setIdOf(action.set), false)
    default:
      return action satisfies never
  }
}

function applySet({ db, sets }: AppContext, { id: serviceId }: StoredService, { set, replicas }: Extract<Action, { kind: 'apply' }>): void {
  const releaseId = deployById(db, set.deployId)?.releaseId
  if (releaseId != null) sets.apply(desiredSet({ serviceId, releaseId, replicas }, set))
}

function markServing({ db, now }: AppContext, service: StoredService, instanceId: string): void {
  if (instanceById(db, instanceId)?.phase !== 'ready') return
  db.transaction(() => {
    updateInstance(db, instanceId, { isServing: true })
    recordEvent(db, { owner: service, type: 'server_available', details: { instanceId }, now: now() })
  })()
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
    for (const set of instanceSetsIn(context.sets.sets(setOwnerOf(service.id)))) {
      const isLive = set.deployId === service.liveDeployId && set.generation === service.liveGeneration
      if (!isLive) context.sets.drop(setIdOf(set))
    }
    updateService(context.db, service.id, { generation: service.liveGeneration }, now)
    recordEvent(context.db, { owner: service, type: 'server_failed', details: { reason: `The restart was given up. ${reason}` }, now })
  })()
}
