/**
 * Which sets a service is to have, decided from what is wanted and what is reported. Everything that changes sets goes through here:
 * deploys, rollbacks, restarts, scaling, suspension, deletion, and the repair after a crash of the control plane. The decision is a pure
 * function, so the caller may die anywhere and simply ask again. Single instances are the keeper's matter, but for the routes: which of them
 * serve is decided here.
 *
 * A set is a deploy in one generation. One set is live (it is in the routes). One is the target: the deploy on its way, or the live deploy
 * in the generation that is wanted. While target and live are the same set, that is brought to its size, and what of it is healthy is put
 * into the routes one by one. While they differ, the target is applied beside the live one, untouched by traffic, until all of it is
 * healthy; then one switch puts it in the live one's place. A target that fails is dropped, and the live set never notices.
 *
 * For a while after the switch of a web service to another release a third set may be there: the standby, the one that was live
 * before. It is out of the routes and otherwise left as it is, kept alive like any other, until the new release has passed; or, if
 * that does far worse, it is made live again, and what was live is then like a target that failed.
 *
 * A service with a disk is replaced stop-first: nothing of it may run beside the one instance that has the disk. Its live set is
 * dropped before the target is applied, and when the target fails, the live one is simply missing and is applied again.
 */
import type { RolloutStrategy } from '../../../shared/deploy.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import type { InstanceSet, ServiceSet } from '../workloads/service-sets.ts'
import { nextSleepCheckAt, planSleep, type SleepAction, type SleepState } from './sleep-plan.ts'

export interface Situation {
  now: number
  service: {
    wantedInstances: number
    generation: number
    liveDeployId: string | null
    liveGeneration: number
    isSuspended: boolean
    isDeleted: boolean
    replaces: RolloutStrategy
    isHalted: boolean
  }
  candidate: { deployId: string; updateStartedAt: number; isCancelRequested: boolean } | undefined
  guard: Guard | undefined
  sleep: SleepState
  sets: readonly ServiceSet[]
  instances: readonly StoredInstance[]
  hasJobs: boolean
  healthTimeoutMs: number
}

export interface Guard {
  previous: InstanceSet
  until: number
  isEnabled: boolean
  countedUntil: number
  verdict: string | undefined
}

export type GuardEnd = 'passed' | 'switched_off' | 'suspended' | 'no_way_back' | 'stop_first'

export type Action =
  | { kind: 'apply'; set: InstanceSet; replicas: number }
  | { kind: 'drop'; set: InstanceSet }
  | { kind: 'serve'; instanceId: string }
  | { kind: 'switch'; to: InstanceSet }
  | { kind: 'conclude_candidate'; deployId: string }
  | { kind: 'fail_candidate'; deployId: string; reason: string }
  | { kind: 'cancel_candidate'; deployId: string; reason: string }
  | { kind: 'abandon_restart'; reason: string }
  | { kind: 'end_guard'; because: GuardEnd }
  | { kind: 'flip_back'; verdict: string }
  | { kind: 'remove_service' }
  | SleepAction

/** A new release is given up at the third time one of its instances dies before it was healthy. */
export const CANDIDATE_EXIT_LIMIT = 3
/** One that starts in an empty place has no second try: meanwhile nothing serves, and the old release could. */
const STOP_FIRST_EXIT_LIMIT = 1

const GUARD_CHECK_MS = 1000
/** An ingress that does not tell its counts for this long after the window has none to tell. */
const COUNT_PATIENCE_MS = 5000

export function planService(situation: Situation): Action[] {
  const { service, candidate } = situation
  if (candidate !== undefined && candidate.deployId === service.liveDeployId) {
    return [{ kind: 'conclude_candidate', deployId: candidate.deployId }]
  }
  const sleeping = planSleep(situation)
  if (sleeping !== undefined) return sleeping
  if (service.isDeleted || service.isSuspended) return planAbsence(situation)
  if (candidate?.isCancelRequested) return [{ kind: 'cancel_candidate', deployId: candidate.deployId, reason: 'Canceled on request.' }]
  const decided = planGuard(situation)
  if (decided !== undefined) return [decided]
  return service.isHalted ? drop(desired(situation)) : planSets(situation)
}

function planSets(situation: Situation): Action[] {
  const live = liveSet(situation)
  const target = targetSet(situation)
  const standby = situation.guard?.previous
  const staying = situation.service.replaces === 'stop_first' ? [target] : [live, target, standby]
  const stale = desired(situation).filter((set) => !staying.some((kept) => sameSet(set, kept)))
  const sized = target === undefined ? [] : sameSet(live, target) ? resize(situation, target) : planRollout(situation, target)
  const isLeaving = [...drop(stale), ...sized].some((action) => isShrinking(situation, action) && sameSet(action.set, live))
  return [...drop(stale), ...revive(situation, live), ...(isLeaving ? [] : serves(situation, live)), ...sized]
}

/** Who goes of a set that shrinks is not known before it has. */
const isShrinking = (situation: Situation, action: Action): action is Extract<Action, { kind: 'apply' | 'drop' }> =>
  action.kind === 'drop' || (action.kind === 'apply' && action.replicas < replicasOf(situation, action.set))

/** What was stopped for its sleep comes back before a deploy may take its place: requests need not wait for that one, which may fail. */
function revive(situation: Situation, live: InstanceSet | undefined): Action[] {
  const { sleep, candidate, service } = situation
  const isMissing = live !== undefined && replicasOf(situation, live) === 0
  return sleep.hasWoken && candidate !== undefined && isMissing && service.replaces === 'rolling' ? resize(situation, live) : []
}

export function nextDueAt(situation: Situation): number | undefined {
  const deadline = isRollingOut(situation) ? [deadlineOf(situation)] : []
  const check = situation.guard === undefined ? [] : [situation.now + GUARD_CHECK_MS]
  const sleepAt = nextSleepCheckAt(situation)
  const later = [...deadline, ...check, ...(sleepAt === undefined ? [] : [sleepAt])].filter((at) => at > situation.now)
  return later.length === 0 ? undefined : Math.min(...later)
}

function planGuard(situation: Situation): Action | undefined {
  const { guard, now } = situation
  if (guard === undefined) return undefined
  const { verdict, until, countedUntil, previous } = guard
  if (!guard.isEnabled) return { kind: 'end_guard', because: 'switched_off' }
  if (situation.service.replaces === 'stop_first') return { kind: 'end_guard', because: 'stop_first' }
  const hasWayBack = active(situation).some((instance) => sameSet(instance, previous) && isHealthy(instance))
  if (verdict !== undefined && hasWayBack) return { kind: 'flip_back', verdict }
  if (now < until || (countedUntil < until && now < until + COUNT_PATIENCE_MS)) return undefined
  return { kind: 'end_guard', because: verdict === undefined ? 'passed' : 'no_way_back' }
}

function planAbsence(situation: Situation): Action[] {
  const { service, candidate, guard, instances, hasJobs } = situation
  if (candidate !== undefined) {
    return [
      { kind: 'cancel_candidate', deployId: candidate.deployId, reason: `The service was ${service.isDeleted ? 'deleted' : 'suspended'}.` },
    ]
  }
  if (guard !== undefined) return [{ kind: 'end_guard', because: 'suspended' }]
  const sets = desired(situation)
  const isGone = sets.length === 0 && instances.length === 0 && !hasJobs
  return service.isDeleted && isGone ? [{ kind: 'remove_service' }] : drop(sets)
}

function resize(situation: Situation, set: InstanceSet): Action[] {
  const [held, wanted] = [replicasOf(situation, set), wantedOf(situation)]
  if (held === wanted || (wanted > held && !hasRoom(situation, set))) return []
  return [{ kind: 'apply', set, replicas: wanted }]
}

/** What may have no other beside it begins when nothing else of the service is left. */
function hasRoom(situation: Situation, set: InstanceSet): boolean {
  if (situation.service.replaces === 'rolling') return true
  return situation.instances.every((one) => isActive(one) && sameSet(one, set)) && desired(situation).every((one) => sameSet(one, set))
}

function planRollout(situation: Situation, target: InstanceSet): Action[] {
  const mine = active(situation).filter((instance) => sameSet(instance, target))
  const wanted = wantedOf(situation)
  // First, so that a set that got healthy while the control plane was away is not given up for its lateness.
  if (mine.filter((instance) => instance.phase === 'ready').length >= wanted) return [{ kind: 'switch', to: target }]
  const failure = failureOf(situation, mine)
  if (failure !== undefined) return giveUp(situation, failure)
  return resize(situation, target)
}

function failureOf(situation: Situation, mine: readonly StoredInstance[]): string | undefined {
  const limit = situation.service.replaces === 'stop_first' ? STOP_FIRST_EXIT_LIMIT : CANDIDATE_EXIT_LIMIT
  const crashed = mine.find((instance) => instance.exits.length >= limit)
  if (crashed !== undefined) {
    const times = limit === 1 ? '' : `, ${crashed.exits.length} times`
    return `${describeExit(crashed)} before it was healthy${times}. See its logs.`
  }
  const misplaced = mine.find((instance) => instance.misplaced !== null)
  if (misplaced !== undefined) return misplaced.misplaced ?? undefined
  if (situation.now < deadlineOf(situation)) return undefined
  const seconds = Math.round(situation.healthTimeoutMs / 1000)
  const died = mine.find((instance) => instance.exits.length > 0)
  if (died !== undefined) return `${describeExit(died)} before it was healthy, and was not healthy within ${seconds} s. See its logs.`
  return `It did not become healthy within ${seconds} s. Check that it listens on $PORT and answers its health check path, and see its logs.`
}

function giveUp({ candidate }: Situation, reason: string): Action[] {
  return candidate === undefined
    ? [{ kind: 'abandon_restart', reason }]
    : [{ kind: 'fail_candidate', deployId: candidate.deployId, reason }]
}

export function describeExit(instance: Pick<StoredInstance, 'exits'>): string {
  const last = instance.exits.at(-1)
  if (last?.reason !== undefined) return last.reason
  if (last?.why === 'out_of_memory') return 'It ran out of memory'
  if (last?.signal) return `It was ended by ${last.signal}`
  return last?.exitCode === null || last === undefined ? 'It ended' : `It exited with code ${last.exitCode}`
}

function serves(situation: Situation, live: InstanceSet | undefined): Action[] {
  return active(situation)
    .filter((instance) => instance.phase === 'ready' && sameSet(instance, live))
    .map((instance) => ({ kind: 'serve', instanceId: instance.id }))
}

const drop = (sets: readonly InstanceSet[]): Action[] =>
  sets.map(({ deployId, generation }) => ({ kind: 'drop', set: { deployId, generation } }))

const desired = ({ sets }: Situation): ServiceSet[] => sets.filter(({ isDropped }) => !isDropped)

const replicasOf = (situation: Situation, set: InstanceSet): number => desired(situation).find((one) => sameSet(one, set))?.replicas ?? 0

const wantedOf = ({ service }: Situation): number =>
  service.replaces === 'stop_first' ? Math.min(1, service.wantedInstances) : service.wantedInstances

const isHealthy = ({ phase }: StoredInstance): boolean => phase === 'ready' || phase === 'serving'
const isActive = (instance: StoredInstance): boolean => instance.phase !== 'draining'
const active = ({ instances }: Situation): StoredInstance[] => instances.filter(isActive)

function liveSet({ service }: Situation): InstanceSet | undefined {
  return service.liveDeployId === null ? undefined : { deployId: service.liveDeployId, generation: service.liveGeneration }
}

function targetSet({ service, candidate }: Situation): InstanceSet | undefined {
  const deployId = candidate?.deployId ?? service.liveDeployId
  return deployId === null ? undefined : { deployId, generation: service.generation }
}

function isRollingOut(situation: Situation): boolean {
  const { service } = situation
  return !service.isSuspended && !service.isDeleted && !service.isHalted && !sameSet(liveSet(situation), targetSet(situation))
}

/** A deploy's time runs from its update, a restart's and that of one that had to wait for its place from its first new instance. */
function deadlineOf(situation: Situation): number {
  const { candidate, service, now, healthTimeoutMs } = situation
  const target = targetSet(situation)
  const updateStartedAt = service.replaces === 'stop_first' ? undefined : candidate?.updateStartedAt
  const begun = updateStartedAt ?? active(situation).find((instance) => sameSet(instance, target))?.createdAt ?? now
  return begun + healthTimeoutMs
}

const sameSet = (a: InstanceSet | undefined, b: InstanceSet | undefined): boolean =>
  a?.deployId === b?.deployId && a?.generation === b?.generation
