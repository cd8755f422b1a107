/** Workloads that run once and are waited for. Who waits may go with their control plane and ask the next one: what was begun goes on, and not twice. */
import type { Database } from 'bun:sqlite'
import type { DesiredSet, Sets } from '../../engines/port/sets.ts'
import type { InstanceSpec } from '../../engines/port/workload.ts'
import type { Clock } from '../../platform/work/clock.ts'
import { type StoredWorkload, workloadById } from './store.ts'

export interface AwaitedRun {
  set: Omit<DesiredSet, 'replicas'>
  /** How long it may take, counted from the start that is written down. */
  timeoutMs: number
  signal: AbortSignal
  /** What is to run, for what an owner cannot tell from the row, since it holds secrets. */
  spec?: InstanceSpec
}

export interface AwaitedWorkloads {
  /** Begins what has no row yet; returns when its end is written and nothing is left. @throws what ends the control plane, beyond which the workload goes on. */
  run(run: AwaitedRun): Promise<void>
  end(id: string): Promise<void>
  specOf(id: string): InstanceSpec | undefined
  changed(id: string): void
}

export interface AwaitedOptions extends Clock {
  db: Database
  sets: Pick<Sets, 'apply' | 'drop'>
  stopping: AbortSignal
}

export function createAwaitedWorkloads({ db, now, after, sets, stopping }: AwaitedOptions): AwaitedWorkloads {
  const specs = new Map<string, InstanceSpec>()
  const waiting = new Map<string, Set<() => void>>()

  async function untilGone(id: string, limits: Limits): Promise<void> {
    for (let workload = workloadById(db, id); workload !== undefined; workload = workloadById(db, id)) {
      stopping.throwIfAborted()
      if (!endsNow(workload, limits)) await nextChange(id, nextLook(workload, limits))
      else if (workload.setId !== null) sets.drop(workload.setId)
    }
  }

  const endsNow = (workload: StoredWorkload, { signal, timeoutMs }: Limits): boolean =>
    !isEnding(workload) && (signal.aborted || deadlineOf(workload, timeoutMs) <= now())

  const nextLook = (workload: StoredWorkload, { signal, timeoutMs }: Limits) =>
    isEnding(workload) ? { at: Number.POSITIVE_INFINITY, signal: stopping } : { at: deadlineOf(workload, timeoutMs), signal }

  async function nextChange(id: string, { at, signal }: { at: number; signal: AbortSignal }): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiters = waiting.get(id) ?? new Set()
    waiting.set(id, waiters.add(resolve))
    const callOff = Number.isFinite(at) ? after(at - now(), resolve) : undefined
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    await promise
    callOff?.()
    signal.removeEventListener('abort', onAbort)
    waiters.delete(resolve)
    if (waiters.size === 0) waiting.delete(id)
  }

  return {
    async run({ set, spec, ...limits }) {
      const { id } = set
      if (spec !== undefined) specs.set(id, spec)
      try {
        if (workloadById(db, id) === undefined) sets.apply({ ...set, replicas: 1 })
        await untilGone(id, limits)
      } finally {
        specs.delete(id)
      }
    },
    end: (id) => untilGone(id, { signal: AbortSignal.abort(), timeoutMs: 0 }),
    specOf: (id) => specs.get(id),
    changed(id) {
      for (const resolve of waiting.get(id) ?? []) resolve()
    },
  }
}

type Limits = Pick<AwaitedRun, 'signal' | 'timeoutMs'>

const isEnding = ({ phase }: StoredWorkload): boolean => phase === 'stopping' || phase === 'ended'

const deadlineOf = ({ startedAt }: StoredWorkload, timeoutMs: number): number =>
  startedAt === null ? Number.POSITIVE_INFINITY : startedAt + timeoutMs
