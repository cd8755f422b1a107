/**
 * When a service falls asleep and when it wakes, decided like everything else about its instances: from what is wanted and what is
 * there. The steps are these, and each may be the last before a crash of the control plane:
 *
 * `fall_asleep`  it is written down that the service is to be asleep, and requests wait in the ingress from the next route table on;
 * `rest`         once nothing of it is under way any more, its sets are frozen or scaled to nothing; else it stays awake;
 * `wake`         it is written down that it is to be awake, by whoever asks for it or by the plan;
 * `thaw`         a frozen set is to go on, and the routes lead to each of its instances only when that has.
 */
import type { StoredSleep } from '../services/store.ts'
import type { StoredInstance } from '../workloads/instance-store.ts'
import type { InstanceSet, ServiceSet } from '../workloads/service-sets.ts'
import type { Situation } from './plan.ts'

type How = StoredSleep['how']

export interface SleepState {
  asleep: How | undefined
  wanted: How | undefined
  dueAt: number
  countedUntil: number
  hasWoken: boolean
}

export type WakeReason =
  | 'request'
  | 'shell'
  | 'in_use'
  | 'deploy'
  | 'restart'
  | 'scale'
  | 'settings'
  | 'suspended'
  | 'deleted'
  | 'disk'
  | 'failed'

export type SleepAction =
  | { kind: 'fall_asleep'; how: How }
  | { kind: 'rest'; how: How; sets: InstanceSet[] }
  | { kind: 'wake'; because: WakeReason }
  | { kind: 'thaw'; set: InstanceSet }
  | { kind: 'replace'; instanceId: string }

const COUNT_CHECK_MS = 1000

export function planSleep(situation: Situation): SleepAction[] | undefined {
  const { sleep, now } = situation
  const here = situation.instances.filter(({ phase }) => phase !== 'draining')
  if (sleep.asleep !== undefined) {
    const because = reasonToWake(situation)
    return because === undefined ? planRest(situation, here, sleep.asleep) : [{ kind: 'wake', because }]
  }
  const sleepers = here.filter(({ frozenAt }) => frozenAt !== null)
  // What died in its sleep is replaced, not started again: requests wait for it as they do for any that starts.
  const dead = sleepers.filter(({ phase }) => phase === 'pending')
  if (dead.length > 0) return replace(dead)
  const frozen = situation.sets.filter(({ isFrozen }) => isFrozen)
  if (frozen.length > 0) return frozen.map((set) => ({ kind: 'thaw', set: nameOf(set) }))
  if (sleepers.length > 0) return []
  const isDue = mayFallAsleep(situation) && sleep.dueAt <= now && sleep.countedUntil >= sleep.dueAt
  return isDue && sleep.wanted !== undefined ? [{ kind: 'fall_asleep', how: sleep.wanted }] : undefined
}

export function nextSleepCheckAt(situation: Situation): number | undefined {
  const { sleep, now } = situation
  if (sleep.asleep !== undefined || !mayFallAsleep(situation)) return undefined
  return Math.max(sleep.dueAt, now + COUNT_CHECK_MS)
}

function planRest({ sets }: Situation, here: readonly StoredInstance[], how: How): SleepAction[] {
  const restless = sets.filter(({ isDropped, isFrozen, replicas }) => !isDropped && (how === 'stop' ? replicas > 0 : !isFrozen))
  if (restless.length > 0) return [{ kind: 'rest', how, sets: restless.map(nameOf) }]
  // One that died meanwhile is not started again: the next to serve is made when it is wanted.
  return replace(here.filter(({ phase }) => phase === 'pending' || phase === 'starting'))
}

function reasonToWake({ service, candidate, guard, sleep }: Situation): WakeReason | undefined {
  if (service.isDeleted) return 'deleted'
  if (service.isSuspended) return 'suspended'
  if (candidate !== undefined || guard !== undefined) return 'deploy'
  if (service.generation !== service.liveGeneration) return 'restart'
  if (service.isHalted) return 'disk'
  return sleep.wanted === sleep.asleep ? undefined : 'settings'
}

function mayFallAsleep({ service, candidate, guard, sleep, instances }: Situation): boolean {
  const isUnderWay = candidate !== undefined || guard !== undefined || service.generation !== service.liveGeneration
  if (sleep.wanted === undefined || isUnderWay || service.isSuspended || service.isDeleted || service.isHalted) return false
  return instances.length > 0 && instances.every(({ phase, deployId }) => phase === 'serving' && deployId === service.liveDeployId)
}

const replace = (instances: readonly StoredInstance[]): SleepAction[] => instances.map(({ id }) => ({ kind: 'replace', instanceId: id }))

const nameOf = ({ deployId, generation }: ServiceSet): InstanceSet => ({ deployId, generation })
