import { traitsOf } from '../../../shared/service-type.ts'
import { describeError } from '../../platform/server-log.ts'
import { pause } from '../../platform/work/clock.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import type { AppContext } from '../context.ts'
import { unfinishedDeploys } from '../deploys/store.ts'
import { forgetOldEvents, recordEvent } from '../events/store.ts'
import { type StoredService, type StoredSleep, serviceById, setAsleep, setAwake } from '../services/store.ts'
import { instanceById, instancesOf, updateInstance } from '../workloads/instance-store.ts'
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

/** Freezes or stops its instances, unless one of them is in use still: no request that reached it may be caught in its sleep. */
export async function rest(
  context: AppContext,
  service: StoredService,
  { how, instanceIds }: { how: StoredSleep['how']; instanceIds: readonly string[] },
): Promise<void> {
  // An earlier control plane may have died before the routes said what its database did.
  await context.routes.publish()
  if (await isInUse(context, service, instanceIds)) {
    wake(context, service.id, 'in_use')
    return await context.routes.publish()
  }
  if (!beginRest(context, service, { how, instanceIds }) || how === 'stop') return
  try {
    for (const id of instanceIds) await context.engine.freeze(id)
  } catch (error) {
    context.log.error('instance not frozen', { serviceId: service.id, ...describeError(error) })
    wake(context, service.id, 'failed')
  }
}

function beginRest(
  { db, now }: AppContext,
  service: StoredService,
  { how, instanceIds }: { how: StoredSleep['how']; instanceIds: readonly string[] },
): boolean {
  return db.transaction(() => {
    if (serviceById(db, service.id)?.asleep == null) return false
    const at = now()
    for (const id of instanceIds) updateInstance(db, id, how === 'stop' ? { phase: 'draining', drainingAt: at } : { frozenAt: at })
    recordEvent(db, {
      owner: service,
      type: 'service_slept',
      details: { mode: how, idleSeconds: service.controls.sleep.idleSeconds },
      now: at,
    })
    return true
  })()
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

export function wake({ db, now }: Pick<AppContext, 'db' | 'now'>, serviceId: string, because: WakeReason): boolean {
  return db.transaction(() => {
    const service = serviceById(db, serviceId)
    if (service?.asleep == null) return false
    const at = now()
    const here = instancesOf(db, serviceId).filter(({ phase }) => phase !== 'draining')
    const hasSlept = here.length === 0 || here.some(({ frozenAt }) => frozenAt !== null)
    setAwake(db, serviceId, at)
    const details = { because, mode: service.asleep.how, asleepSeconds: Math.round((at - service.asleep.at) / 1000) }
    if (hasSlept) recordEvent(db, { owner: service, type: 'service_woke', details, now: at })
    forgetOldEvents(db, { serviceId, types: ['service_slept', 'service_woke'], count: KEPT_EVENTS })
    return true
  })()
}

export async function awaken(context: AppContext, serviceId: string, because: WakeReason): Promise<void> {
  wake(context, serviceId, because)
  context.work.poke('service', serviceId)
  const deadline = context.now() + AWAKEN_DEADLINE_MS
  const isFrozen = () => instancesOf(context.db, serviceId).some(({ frozenAt }) => frozenAt !== null)
  while (isFrozen() && context.now() < deadline) await pause(context, AWAKEN_POLL_MS)
}

export async function thaw(context: AppContext, instanceIds: readonly string[]): Promise<void> {
  for (const id of instanceIds) {
    await context.engine.thaw(id)
    // One that is dead is left as it is, for the plan to see that it died in its sleep.
    if ((await context.engine.inspect(id))?.status === 'running') updateInstance(context.db, id, { frozenAt: null })
  }
  await context.routes.publish()
}

export async function freezeAgain({ db, engine }: Pick<AppContext, 'db' | 'engine'>): Promise<void> {
  const rows = db
    .query<{ id: string }, []>(
      `SELECT i.id FROM instances i JOIN services s ON s.id = i.service_id
       WHERE i.frozen_at IS NOT NULL AND i.phase = 'serving' AND s.asleep_how = 'freeze'`,
    )
    .all()
  for (const { id } of rows) if ((await engine.inspect(id))?.status === 'running') await engine.freeze(id)
}
