/** An owner brings a policy, what its replicas are made of, and what it makes of each end; all else is the same for all. */
import type { EndReason } from '../../engines/port/end.ts'
import type { Endpoint, ExitedState } from '../../engines/port/port.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { StoredSet } from './set-store.ts'
import type { StoredWorkload, WorkloadExit } from './store.ts'

export interface WorkloadPolicy {
  /** A set that is never restarted is over with the end of its replicas. */
  restarts: 'always' | 'never'
  /** The longest pause before a restart after many failures; a minute unless said otherwise. */
  longestDelayMs?: number
}

export type WorkloadEnd =
  | { kind: 'failed'; exit: WorkloadExit; delayMs: number }
  /** The run never began, or went with its machine or with what watches it: it starts again at once, and nobody counts it. */
  | { kind: 'interrupted'; why: EndReason | undefined }
  | { kind: 'over'; exit: ExitedState | undefined; reason: string | undefined }
  | { kind: 'refused'; error: unknown }

export interface WorkloadOwner {
  readonly ownerKind: string
  readonly purpose: string
  readonly policy: WorkloadPolicy
  newId(set: StoredSet): string
  onAdded?(workload: StoredWorkload): void
  /** Whether no replica may begin for now, whatever was written before; looked at again in a moment. */
  isHeld?(set: StoredSet): boolean
  /** Whether a replica may begin only when nothing else of the owner is there for this purpose, what is on its way out included. */
  isExclusive?(set: StoredSet): boolean
  beforeStart?(workload: StoredWorkload): Promise<void>
  specOf(workload: StoredWorkload): Promise<InstanceSpec>
  follow(workload: StoredWorkload): void
  closeOutput(workload: StoredWorkload): Promise<void>
  /** The port that it is reached at, now that the engine has given it this endpoint; absent: the endpoint's own. */
  portAt?(workload: StoredWorkload, endpoint: Required<Endpoint>): number
  onStarted?(workload: StoredWorkload): void
  /** Resolves once it is healthy, with what is to be written down of it; absent: it is as soon as it runs. The signal aborts when it ends. */
  untilReady?(workload: StoredWorkload, signal: AbortSignal): Promise<{ port: number } | undefined>
  /** Part of the transaction that writes an end down, before it is in the row. */
  onEnd?(workload: StoredWorkload, end: WorkloadEnd): void
  onFreezeFailed?(workload: StoredWorkload): void
  /** Part of the transaction that sets replicas on their way out, before it is in their rows. */
  onStopping?(workloads: readonly StoredWorkload[]): void
  /** Returns when nobody needs it any more, before it is stopped. Repeatable. */
  drain?(workload: StoredWorkload, signal: AbortSignal): Promise<void>
  graceMs(workload: StoredWorkload): number
  onRemoved?(workload: StoredWorkload): Promise<void>
}
