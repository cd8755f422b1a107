import { AppError } from '../../../shared/error.ts'
import type { Clock } from '../../platform/work/clock.ts'
import type { Engine } from '../port/port.ts'
import type { Volumes } from '../port/volumes.ts'

export type VolumeCall = Exclude<keyof Volumes, 'capabilities' | 'roomBytes' | 'pathProblem' | 'pathOf'>

export type Call =
  | Exclude<keyof Engine, 'name' | 'epoch' | 'siblingHost' | 'exposeLoopback' | 'capabilities' | 'output' | 'volumes' | 'onExit' | 'close'>
  | 'readOutput'
  | 'releaseOutput'
  | 'removeOutput'
  | 'listOutputs'
  | `volumes.${VolumeCall}`

export type Fault =
  | { kind: 'slow'; delayMs: number }
  /** The call takes effect, and the caller is told that it failed. */
  | { kind: 'lost' }
  /** The call has no effect, and the caller is told so. */
  | { kind: 'refused' }

export interface Faults {
  /** Has this befall the next `times` such calls, once by default. */
  inject(call: Call, fault: Fault, times?: number): void
  /** From now on no call is answered and no end is told, until `heal`. Calls that were made meanwhile take effect then. */
  partition(): void
  heal(): void
  clear(): void
  readonly isPartitioned: boolean
}

export interface FaultyCalls extends Faults {
  around<T>(call: Call, act: () => Promise<T>): Promise<T>
  reachable(): Promise<void>
}

export function createFaults(clock: Clock): FaultyCalls {
  const due = new Map<Call, Fault[]>()
  let healed: PromiseWithResolvers<void> | undefined
  const reachable = async () => {
    while (healed !== undefined) await healed.promise
  }
  const heal = () => {
    healed?.resolve()
    healed = undefined
  }
  return {
    inject: (call, fault, times = 1) => void due.set(call, [...(due.get(call) ?? []), ...Array(times).fill(fault)]),
    partition: () => {
      healed ??= Promise.withResolvers()
    },
    heal,
    clear: () => {
      due.clear()
      heal()
    },
    get isPartitioned() {
      return healed !== undefined
    },
    reachable,
    around: async (call, act) => {
      await reachable()
      const fault = due.get(call)?.shift()
      if (fault?.kind === 'refused') throw new AppError('unavailable', `The engine refuses to ${call}`)
      const result = await act()
      if (fault?.kind === 'slow') await new Promise<void>((resolve) => void clock.after(fault.delayMs, resolve))
      await reachable()
      if (fault?.kind === 'lost') throw new AppError('unavailable', `The answer to ${call} was lost`)
      return result
    },
  }
}
