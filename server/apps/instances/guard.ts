import { traitsOf } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { BASELINE_MS, type Figures, judgeRelease } from '../cutover-guard/verdict.ts'
import { endDeploy } from '../deploys/finish.ts'
import { deployById, updateDeploy } from '../deploys/store.ts'
import { recordEvent } from '../events/store.ts'
import { type StoredGuard, type StoredService, setGuard, setLive, updateService } from '../services/store.ts'
import { instancesOf, type StoredInstance } from '../workloads/instance-store.ts'
import type { InstanceSet } from '../workloads/service-sets.ts'
import type { Guard, GuardEnd } from './plan.ts'

type Reader = Pick<AppContext, 'db' | 'now' | 'traffic'>

export function guardOf(context: Reader, service: StoredService): Guard | undefined {
  const { guard, controls } = service
  const figures = figuresNow(context, service)
  if (guard === null || figures === undefined) return undefined
  const { enabled: isEnabled, errorRateThreshold } = controls.cutoverGuard
  const elapsedMs = Math.min(context.now(), guard.until) - guard.startedAt
  return {
    previous: guard.previous,
    until: guard.until,
    isEnabled,
    countedUntil: context.traffic.sampledAt(),
    verdict: judgeRelease({ ...figures, errorRateThreshold, elapsedMs }),
  }
}

/**
 * Has a switch watched, or not, and ends the guard of the switch before it. Not watched are restarts, whose release is the same; rollbacks,
 * which a person asked for and no machine is to undo; and a first release, which has nothing to go back to.
 */
export function guardSwitch(context: Reader, service: StoredService, to: InstanceSet): void {
  const { db } = context
  const from = service.liveDeployId
  if (from === to.deployId) return
  if (service.guard !== null && from !== null) {
    setGuard(db, service.id, null)
    const reason = `Deploy ${to.deployId} took its place.`
    recordEvent(db, { owner: service, type: 'cutover_unguarded', details: { deployId: from, reason }, now: context.now() })
  }
  const { enabled, windowSeconds, errorRateThreshold } = service.controls.cutoverGuard
  const previous = from === null ? undefined : { deployId: from, generation: service.liveGeneration }
  const standby = previous === undefined ? [] : instancesOf(db, service.id).filter((one) => one.phase !== 'draining' && isOf(one, previous))
  const isWanted = enabled && traitsOf(service.type).isProxied && deployById(db, to.deployId)?.trigger !== 'rollback'
  if (previous === undefined || standby.length === 0 || !isWanted) return
  const startedAt = context.now()
  const until = startedAt + windowSeconds * 1000
  const baseline = figuresOf(context, service, { instances: standby, since: startedAt - BASELINE_MS })
  setGuard(db, service.id, { previous, startedAt, until, baseline })
  const details = { deployId: to.deployId, previousDeployId: from, windowSeconds, errorRateThreshold, baseline }
  recordEvent(db, { owner: service, type: 'cutover_guarded', details, now: startedAt })
}

const unguardedBecause: Record<Exclude<GuardEnd, 'passed'>, string> = {
  switched_off: 'The guard was switched off.',
  suspended: 'The service was suspended or deleted.',
  stop_first: 'The service has a disk now, so no other instance can stand by.',
  no_way_back: 'The new release does far worse, but no instance of the old one was healthy to go back to.',
}

export function endGuard(context: AppContext, service: StoredService, because: GuardEnd): void {
  context.db.transaction(() => {
    setGuard(context.db, service.id, null)
    const now = context.now()
    const details = { deployId: service.liveDeployId, ...figuresNow(context, service) }
    if (because === 'passed') recordEvent(context.db, { owner: service, type: 'cutover_passed', details, now })
    else
      recordEvent(context.db, {
        owner: service,
        type: 'cutover_unguarded',
        details: { ...details, reason: unguardedBecause[because] },
        now,
      })
  })()
}

export function flipBack(context: AppContext, service: StoredService, verdict: string): void {
  const { guard, liveDeployId } = service
  const deploy = liveDeployId === null ? undefined : deployById(context.db, liveDeployId)
  if (guard === null || deploy === undefined) return
  const { previous } = guard
  context.db.transaction(() => {
    const now = context.now()
    const reason = `${verdict} The old release serves again.`
    const details = { deployId: deploy.id, toDeployId: previous.deployId, reason, ...figuresNow(context, service) }
    setLive(context.db, service.id, previous)
    setGuard(context.db, service.id, null)
    updateService(context.db, service.id, { generation: previous.generation }, now)
    recordEvent(context.db, { owner: service, type: 'cutover_reverted', details, now })
    endDeploy(context, { deploy, owner: service }, { status: 'update_failed', reason })
    updateDeploy(context.db, previous.deployId, { status: 'live' }, now)
    const told = { serviceId: service.id, toDeployId: previous.deployId, reason }
    context.audit.system({ event: 'deploy.taken_back', workspaceId: service.workspaceId, target: deploy.id, metadata: told })
  })()
}

function figuresNow(context: Reader, service: StoredService): { before: Figures; after: Figures } | undefined {
  const { guard, liveDeployId: deployId, liveGeneration: generation } = service
  if (guard === null || deployId === null) return undefined
  const instances = instancesOf(context.db, service.id)
  const live = instances.filter((instance) => isOf(instance, { deployId, generation }))
  return { before: beforeOf(guard, instances), after: figuresOf(context, service, { instances: live, since: guard.startedAt }) }
}

/** Deaths of the old release meanwhile are no fault of the new one: whatever it is, it befalls both. */
function beforeOf({ baseline, previous, startedAt }: StoredGuard, instances: readonly StoredInstance[]): Figures {
  const standby = instances.filter((instance) => isOf(instance, previous))
  return { ...baseline, crashes: baseline.crashes + crashesOf(standby, startedAt) }
}

/**
 * Where all instances are down, the ingress has nobody to ask: what it answers for the service then counts, too. Tunnels say nothing
 * of a release, nor do requests that their clients gave up.
 */
function figuresOf(
  { traffic }: Reader,
  service: StoredService,
  { instances, since }: { instances: readonly StoredInstance[]; since: number },
): Figures {
  const ids = instances.map(({ id }) => id)
  const { byClass, brokenOff } = traffic.since(ids, since)
  // What nobody was asked for just before the switch is no fault of the release after it.
  const unasked = traffic.after([service.id], since).ingressErrors
  const answered = byClass['2xx'] + byClass['3xx'] + byClass['4xx'] + byClass['5xx']
  const failed = brokenOff + unasked
  return { requests: answered + failed, errors: byClass['5xx'] + failed, crashes: crashesOf(instances, since) }
}

const crashesOf = (instances: readonly StoredInstance[], since: number): number =>
  instances.flatMap(({ exits }) => exits).filter(({ at }) => at >= since).length

const isOf = (instance: StoredInstance, set: InstanceSet): boolean =>
  instance.deployId === set.deployId && instance.generation === set.generation
