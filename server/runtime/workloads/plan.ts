/**
 * What is to be done about one replica, decided from its row, its set and what the engine says of it. Whoever carries a step out may die
 * anywhere and ask again: a step is written down before it is taken, or can be repeated.
 *
 * `pending` → start → `starting` → running, and healthy where that is asked → `running` → end → `pending` again, or `ended` → forget.
 * What is surplus goes to `stopping` at any time; from there it leads to `ended` only.
 */
import { type EndReason, wasUnseen } from '../../engines/port/end.ts'
import type { Endpoint, ExitedState, InstanceState } from '../../engines/port/port.ts'
import type { WorkloadPolicy } from './owner.ts'
import type { StoredSet } from './set-store.ts'
import type { StoredWorkload } from './store.ts'

export interface WorkloadSituation {
  now: number
  workload: StoredWorkload
  /** Undefined when the engine knows none of that id. */
  seen: InstanceState | undefined
  policy: WorkloadPolicy
  epoch: string
  set: Pick<StoredSet, 'isFrozen'>
  /** The engine has frozen it since this control plane began. */
  wasFrozen: boolean
  mayBegin: boolean
}

export type WorkloadStep =
  /** Nothing is to be done before then, or, where that is undefined, before something happens. */
  | { kind: 'wait'; until: number | undefined }
  | { kind: 'start' }
  | { kind: 'keep'; endpoint: Endpoint | undefined }
  | { kind: 'freeze' }
  | { kind: 'thaw' }
  | { kind: 'interrupted'; why: EndReason | undefined }
  | { kind: 'failed'; exit: ExitedState }
  | { kind: 'over'; exit: ExitedState | undefined }
  | { kind: 'stop' }
  | { kind: 'forget' }

/** How long to wait for what stands in the way of a start and may go away unseen. */
const HELD_CHECK_MS = 1000

export function planWorkload(situation: WorkloadSituation): WorkloadStep {
  const { workload, now } = situation
  switch (workload.phase) {
    case 'ended':
      return { kind: 'forget' }
    case 'stopping':
      return { kind: 'stop' }
    case 'pending':
      return workload.startAt <= now ? planStart(situation) : { kind: 'wait', until: workload.startAt }
    default:
      return planBegun(situation)
  }
}

function planStart({ now, workload, set, mayBegin }: WorkloadSituation): WorkloadStep {
  if (mayBegin) return { kind: 'start' }
  const isAsleep = set.isFrozen || workload.frozenAt !== null
  return { kind: 'wait', until: isAsleep ? undefined : now + HELD_CHECK_MS }
}

function planBegun({ workload, seen, policy, epoch, set, wasFrozen }: WorkloadSituation): WorkloadStep {
  if (seen?.status === 'running') {
    if (workload.frozenAt !== null && !set.isFrozen) return { kind: 'thaw' }
    if (workload.phase === 'running' && set.isFrozen && !wasFrozen) return { kind: 'freeze' }
    return { kind: 'keep', endpoint: seen.endpoint }
  }
  if (policy.restarts === 'always') {
    if (seen === undefined || wasUnseen(seen)) return { kind: 'interrupted', why: seen?.why }
    return { kind: 'failed', exit: seen }
  }
  // The engine writes down what it begins before it begins: what its records lack never ran, unless they are not those of then.
  const isSameEpoch = workload.epoch === null || workload.epoch === epoch
  const neverBegan = seen === undefined && workload.phase === 'starting' && isSameEpoch
  return neverBegan ? { kind: 'interrupted', why: undefined } : { kind: 'over', exit: seen }
}
