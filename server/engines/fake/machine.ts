import type { Dial } from '../../platform/network/dial.ts'
import { type Clock, realClock } from '../../platform/work/clock.ts'
import { dialAmong } from './connection.ts'
import { createFaults, type FaultyCalls } from './faults.ts'
import { createFakeOutputs, type FakeOutputs } from './output.ts'
import { type End, Program } from './program.ts'
import type { Workload } from './workload.ts'

/** One workload of the machine, running or ended. */
export interface Run extends Workload {
  address: string
  startedAt: number
  program: Program
  end: (End & { at: number }) | undefined
  readonly ended: Promise<End>
  /** Ended unobserved, with the machine: nobody knows how. */
  wasLost: boolean
}

/** What fake engines run workloads on. It outlives them, as a machine outlives a control plane. */
export interface FakeMachine {
  readonly faults: FaultyCalls
  readonly clock: Clock
  /** Names the records of its engines, which have others after a `restart` that forgets. */
  readonly epoch: string
  /** What engines keep of what workloads write. */
  readonly outputs: FakeOutputs
  /** What a workload has written, under its id; kept when it is removed. */
  output(id: string): string
  /** Connects to what listens there, which answers HTTP requests as its program says. */
  readonly dial: Dial
  /** How often an id was started, over all time: more than once without a `remove` in between is one too many. */
  starts(id: string): number
  /** Ids of what runs now, known to the engine or not. */
  running(): string[]
  /** Ends a workload by itself, as a crash does. */
  crash(id: string): void
  /** The engine's own service starts anew: with its records, or, having lost them, knowing nothing of what it started, which then runs on unknown. */
  restart(options: { forgets: boolean }): void
  /** Everything ends and nobody sees how; the records stay. */
  reboot(): void
  /** What engines know, by id. */
  readonly runs: Map<string, Run>
  /** Begins a workload, at an address of its own unless it is given one. */
  begin(workload: Workload & { address?: string }): Run
  /** A port that no workload was told before. */
  freePort(): number
  onEnd(listener: (run: Run) => void): () => void
}

const FIRST_SHARED_PORT = 20_000

export function createFakeMachine(clock: Clock = realClock): FakeMachine {
  const faults = createFaults(clock)
  const runs = new Map<string, Run>()
  const unknown = new Set<Run>()
  const outputs = createFakeOutputs()
  const started = new Map<string, number>()
  const listeners = new Set<(run: Run) => void>()
  let addresses = 0
  let epochs = 1
  let ports = FIRST_SHARED_PORT
  const all = () => [...runs.values(), ...unknown]
  const running = () => all().filter(({ end }) => end === undefined)

  function begin(workload: Workload & { address?: string }): Run {
    const { promise, resolve } = Promise.withResolvers<End>()
    const index = ++addresses
    const run: Run = {
      address: `10.99.${index >> 8}.${index & 255}`,
      ...workload,
      startedAt: clock.now(),
      end: undefined,
      ended: promise,
      wasLost: false,
      program: new Program({
        ...workload,
        clock,
        write: (bytes) => {
          outputs.append(workload, bytes)
          workload.onOutput?.(bytes)
        },
        onEnd: (end) => {
          run.end = { ...end, at: clock.now() }
          resolve(end)
          if (!unknown.has(run)) for (const listener of listeners) listener(run)
        },
      }),
    }
    runs.set(workload.id, run)
    started.set(workload.id, (started.get(workload.id) ?? 0) + 1)
    return run
  }

  return {
    clock,
    faults,
    runs,
    outputs,
    begin,
    freePort: () => ports++,
    get epoch() {
      return `epoch-${epochs}`
    },
    onEnd: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    output: outputs.written,
    dial: dialAmong(running, clock),
    starts: (id) => started.get(id) ?? 0,
    running: () => running().map(({ id }) => id),
    crash: (id) => runs.get(id)?.program.kill('SIGSEGV'),
    restart: ({ forgets }) => {
      if (!forgets) return
      epochs++
      for (const run of runs.values()) unknown.add(run)
      runs.clear()
    },
    reboot: () => {
      for (const run of running()) {
        run.wasLost = true
        run.program.kill('SIGKILL')
      }
    },
  }
}
