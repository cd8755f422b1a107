/**
 * What is to be done about one workload, decided from its row and from what the engine says of it. Whoever carries a step out may die
 * anywhere and ask again: a step is written down before it is taken, or can be repeated.
 *
 * `pending` → start → `starting` → running, and healthy where that is asked → `running` → end → `pending` again, or `ended` → forget.
 * An owner moves it to `stopping` at any time; from there it leads to `ended` only.
 */
import { type EndReason, wasUnseen } from '../../engines/port/end.ts'
import type { Endpoint, ExitedState, InstanceState } from '../../engines/port/port.ts'
import type { WorkloadPolicy } from './owner.ts'
import type { StoredWorkload } from './store.ts'

export interface WorkloadSituation {
  now: number
  workload: StoredWorkload
  /** Undefined when the engine knows none of that id. */
  seen: InstanceState | undefined
  policy: WorkloadPolicy
  /** The engine's records as they are now. */
  epoch: string
}

export type WorkloadStep =
  /** Nothing is to be done before then, or, where that is undefined, before something happens. */
  | { kind: 'wait'; until: number | undefined }
  | { kind: 'start' }
  /** The engine says where it is reached, if anywhere. */
  | { kind: 'keep'; endpoint: Endpoint | undefined }
  /** The workload waits again, through no fault of its own. */
  | { kind: 'interrupted'; why: EndReason | undefined }
  /** The workload waits again, until a pause is over. */
  | { kind: 'failed'; exit: ExitedState }
  | { kind: 'over'; exit: ExitedState | undefined }
  | { kind: 'stop' }
  | { kind: 'forget' }

export function planWorkload(situation: WorkloadSituation): WorkloadStep {
  const { workload, policy, now } = situation
  switch (workload.phase) {
    case 'ended':
      return { kind: 'forget' }
    case 'stopping':
      return { kind: 'stop' }
    case 'pending':
      if (policy.starts === 'when_told') return { kind: 'wait', until: undefined }
      return workload.startAt <= now ? { kind: 'start' } : { kind: 'wait', until: workload.startAt }
    default:
      return planBegun(situation)
  }
}

function planBegun({ workload, seen, policy, epoch }: WorkloadSituation): WorkloadStep {
  if (seen?.status === 'running') return { kind: 'keep', endpoint: seen.endpoint }
  if (policy.restarts === 'always') {
    if (seen === undefined || wasUnseen(seen)) return { kind: 'interrupted', why: seen?.why }
    return { kind: 'failed', exit: seen }
  }
  // The engine writes down what it begins before it begins: what its records lack never ran, unless they are not those of then.
  const isSameEpoch = workload.epoch === null || workload.epoch === epoch
  const neverBegan = seen === undefined && workload.phase === 'starting' && isSameEpoch
  return neverBegan ? { kind: 'interrupted', why: undefined } : { kind: 'over', exit: seen }
}
