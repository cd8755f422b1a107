/**
 * What the supervisor has to know of those who have something run: instances and jobs of services today. An owner brings a policy and
 * what it makes of each end; starting, observing, back-off, draining and stopping are the same for all.
 */
import type { ExitedState } from '../../engines/port/port.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { StoredWorkload, WorkloadExit } from './store.ts'

export interface WorkloadPolicy {
  /** Whether one that ends is started again after a pause, or is over. */
  restarts: 'always' | 'never'
  /** Whether the supervisor starts it as soon as it is due, or its owner's own plan says when. */
  starts: 'when_due' | 'when_told'
}

/** How a run came to its end, seen from what is to follow. */
export type WorkloadEnd =
  /** It starts again after the pause. */
  | { kind: 'failed'; exit: WorkloadExit; delayMs: number }
  /** It never began, or went with its machine or with what watches it: it starts again at once, and nobody counts it. */
  | { kind: 'interrupted'; keeperWasKilled: boolean }
  /** It is over. */
  | { kind: 'over'; exit: ExitedState | undefined; reason: string | undefined }
  /** It could not be started and is over. */
  | { kind: 'refused'; error: unknown }

export interface WorkloadOwner {
  readonly ownerKind: string
  readonly purpose: string
  readonly policy: WorkloadPolicy
  /** Writes down what has to be settled before a start. */
  beforeStart?(workload: StoredWorkload): Promise<void>
  /** What the engine is to start. @throws what keeps it from starting. */
  specOf(workload: StoredWorkload): Promise<InstanceSpec>
  /** Begins, or goes on, to collect its output. */
  follow(workload: StoredWorkload): void
  /** Stores the rest of its output. Repeatable. */
  closeOutput(workload: StoredWorkload): Promise<void>
  onStarted?(workload: StoredWorkload): void
  /** Resolves once it is healthy, with what is to be written down of it; absent: it is as soon as it runs. The signal aborts when it ends. */
  untilReady?(workload: StoredWorkload, signal: AbortSignal): Promise<{ port: number } | undefined>
  /** Part of the transaction that writes an end down, before it is in the row. */
  onEnd?(workload: StoredWorkload, end: WorkloadEnd): void
  /** Returns when nobody needs it any more, before it is stopped. Repeatable. */
  drain?(workload: StoredWorkload, signal: AbortSignal): Promise<void>
  /** Time between SIGTERM and SIGKILL. */
  graceMs(workload: StoredWorkload): number
  /** Its row is gone. */
  onRemoved?(workload: StoredWorkload): Promise<void>
  /** Has an owner that starts its workloads itself look at them. */
  onChange?(workload: StoredWorkload): void
}
