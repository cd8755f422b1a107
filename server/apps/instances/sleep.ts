import { traitsOf } from '../../../shared/service-type.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { pause } from '../../platform/work/clock.ts'
import { type StoredWorkload, workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import { type StoredService, type StoredSleep, serviceById, setAsleep, setAwake } from '../services/store.ts'
import { instanceById, instancesOf } from '../workloads/instance-store.ts'
import { type InstanceSet, setIdOf, setOwnerOf } from '../workloads/service-sets.ts'
import { SHELL } from '../workloads/shell-store.ts'
import { BUILD_STEP, PRE_DEPLOY } from '../workloads/step-store.ts'
import { hasSiblings } from './siblings.ts'
import type { SleepState, WakeReason } from './sleep-plan.ts'

const AWAKEN_DEADLINE_MS = 5000
const AWAKEN_POLL_MS = 10
const KEPT_EVENTS = 1000

export function sleepOf(context: Pick<AppContext, 'db' | 'traffic' | 'engine'>, service: StoredService): SleepState {
  const { idleSeconds } = service.controls.sleep
  const mode = modeOf(context, service)
  const [asleep, hasWoken, countedUntil] = [service.asleep?.how, service.wokenAt !== null, context.traffic.sampledAt()]
  const never = { asleep, wanted: undefined, dueAt: Number.POSITIVE_INFINITY, countedUntil, hasWoken }
  if (mode === 'off' || !traitsOf(service.type).isProxied) return never
  const mayBegin = asleep !== undefined || unfinishedDeploys(context.db, service.id).length === 0
  return mayBegin ? { ...never, wanted: mode, dueAt: stirredAt(context, service) + idleSeconds * 1000 } : never
}

/** A service whose instances could be frozen when that was asked for, and cannot be any more, has them stopped. */
function modeOf({ engine }: Pick<AppContext, 'engine'>, { controls }: StoredService): StoredService['controls']['sleep']['mode'] {
  const { mode } = controls.sleep
  return mode === 'freeze' && !engine.capabilities.freeze ? 'stop' : mode
}

function stirredAt({ db, traffic }: Pick<AppContext, 'db' | 'traffic'>, service: StoredService): number {
  const instances = instancesOf(db, service.id)
  const starts = instances.map(({ startedAt, createdAt }) => Math.max(startedAt ?? 0, createdAt))
  const askedAt = traffic.lastActiveAt(instances.map(({ id }) => id))
  return Math.max(service.updatedAt, service.wokenAt ?? 0, askedAt, ...starts)
}

export async function fallAsleep(context: AppContext, service: StoredService, how: StoredSleep['how']): Promise<void> {
  setAsleep(context.db, service.id, { at: context.now(), how })
  await context.routes.publish()
}

/** Has its sets frozen or scaled to nothing, unless one of its instances is in use still: no request that reached it may be caught in its sleep. */
export async function rest(context: AppContext, service: StoredService, { how, sets }: Rest): Promise<void> {
  // An earlier control plane may have died before the routes said what its database did.
  await context.routes.publish()
  const instanceIds = instancesOf(context.db, service.id).flatMap(({ id, phase }) => (phase === 'draining' ? [] : [id]))
  if (!(await isInUse(context, service, instanceIds))) return beginRest(context, service, { how, sets })
  wake(context, service.id, 'in_use')
  await context.routes.publish()
}

interface Rest {
  how: StoredSleep['how']
  sets: readonly InstanceSet[]
}

function beginRest(context: AppContext, service: StoredService, { how, sets }: Rest): void {
  const { db, now } = context
  inOneChange(db, () => {
    if (serviceById(db, service.id)?.asleep == null) return
    for (const { id, ...set } of context.sets.sets(setOwnerOf(service.id))) {
      if (!sets.some((one) => setIdOf(one) === id)) continue
      if (how === 'stop') context.sets.apply({ ...set, id, replicas: 0 })
      else context.sets.freeze(id, true)
    }
    const details = { mode: how, idleSeconds: service.controls.sleep.idleSeconds }
    recordEvent(db, { owner: service, type: 'service_slept', details, now: now() })
  })
}

export function giveUpRest(context: AppContext, { ownerId, setId }: Pick<StoredWorkload, 'ownerId' | 'setId'>): void {
  inOneChange(context.db, () => {
    wake(context, ownerId, 'failed')
    if (setId !== null) context.sets.freeze(setId, false)
  })
}

/** What runs beside the instances as part of them, or to replace them. */
const keepAwake: ReadonlySet<string> = new Set([SHELL.purpose, BUILD_STEP.purpose, PRE_DEPLOY.purpose])

async function isInUse(context: AppContext, service: StoredService, instanceIds: readonly string[]): Promise<boolean> {
  const { db, engine, ingress, log } = context
  try {
    for (const id of instanceIds) {
      const { inFlight, tunnels } = await ingress.drainState(id)
      if (inFlight > 0 || tunnels > 0) return true
      const instance = instanceById(db, id)
      if (instance !== undefined && (await hasSiblings(engine, instance))) return true
    }
    return workloadsOf(db, 'service', service.id).some(({ purpose }) => keepAwake.has(purpose))
  } catch (error) {
    log.error('not put to sleep', { serviceId: service.id, ...describeError(error) })
    return true
  }
}

export function wake({ db, now, sets }: Pick<AppContext, 'db' | 'now' | 'sets'>, serviceId: string, because: WakeReason): boolean {
  return inOneChange(db, () => {
    const service = serviceById(db, serviceId)
    if (service?.asleep == null) return false
    const at = now()
    const here = instancesOf(db, serviceId).filter(({ phase }) => phase !== 'draining')
    const hasSlept = here.length === 0 || sets.sets(setOwnerOf(serviceId)).some(({ isFrozen }) => isFrozen)
    setAwake(db, serviceId, at)
    const details = { because, mode: service.asleep.how, asleepSeconds: Math.round((at - service.asleep.at) / 1000) }
    if (hasSlept) recordEvent(db, { owner: service, type: 'service_woke', details, now: at })
    forgetOldEvents(db, { serviceId, types: ['service_slept', 'service_woke'], count: KEPT_EVENTS })
    return true
  })
}

export async function awaken(context: AppContext, serviceId: string, because: WakeReason): Promise<void> {
  wake(context, serviceId, because)
  context.work.poke('service', serviceId)
  const deadline = context.now() + AWAKEN_DEADLINE_MS
  const isFrozen = () => instancesOf(context.db, serviceId).some(({ frozenAt }) => frozenAt !== null)
  while (isFrozen() && context.now() < deadline) await pause(context, AWAKEN_POLL_MS)
}
