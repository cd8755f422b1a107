import { AppError } from '../../../shared/error.ts'
import type { Dial } from '../../platform/network/dial.ts'
import { type Clock, realClock } from '../../platform/work/clock.ts'
import type { End } from '../port/end.ts'
import type { Owner } from '../port/workload.ts'
import { dialAmong } from './connection.ts'
import { createFaults, type FaultyCalls } from './faults.ts'
import { createFakeLinks, type FakeLinks } from './links.ts'
import { createFakeOutputs, type FakeOutputs } from './output.ts'
import { Program, type ProgramEnd } from './program.ts'
import type { Workload } from './workload.ts'

export interface Run extends Workload {
  address: string
  startedAt: number
  program: Program
  end: (ProgramEnd & { at: number }) | undefined
  readonly ended: Promise<End>
  wasLost: boolean
}

export interface FakeVolume {
  owner: Owner
  sizeGb: number
  /** What is said to be taken of a size of its own; undefined for a volume that has none. */
  usedBytes?: number
  /** Texts by names. A program that began before a restore goes on with those of before. */
  files: Map<string, string>
  snapshots: Map<string, Map<string, string>>
  users: Set<Run>
}

/** What fake engines run workloads on. It outlives them, as a machine outlives a control plane. */
export interface FakeMachine {
  readonly faults: FaultyCalls
  readonly clock: Clock
  /** Names the records of its engines, which have others after a `restart` that forgets. */
  readonly epoch: string
  readonly outputs: FakeOutputs
  /** What a workload has written, under its id; kept when it is removed. */
  output(id: string): string
  readonly dial: Dial
  /** How often an id was started, over all time: more than once without a `remove` in between is one too many. */
  starts(id: string): number
  running(): string[]
  /** Ends a workload by itself, as a crash does: by a signal, or with this exit code. */
  crash(id: string, exitCode?: number): void
  /** The engine's own service starts anew: with its records, or, having lost them, knowing nothing of what it started, which then runs on unknown. */
  restart(options: { forgets: boolean }): void
  reboot(): void
  readonly runs: Map<string, Run>
  readonly volumes: Map<string, FakeVolume>
  readonly links: FakeLinks
  begin(workload: Workload & { address?: string }): Run
  freePort(): number
  onEnd(listener: (run: Run) => void): () => void
}

const volumeOf = (volumes: FakeMachine['volumes'], { volumeId }: Workload): FakeVolume | undefined =>
  volumeId === undefined ? undefined : volumeIn({ volumes }, volumeId)

/** @throws AppError `not_found` when there is none of that id. */
export function volumeIn({ volumes }: Pick<FakeMachine, 'volumes'>, id: string): FakeVolume {
  const volume = volumes.get(id)
  if (volume === undefined) throw new AppError('not_found', 'The disk is gone.')
  return volume
}

const addressAt = (index: number): string => `10.99.${index >> 8}.${index & 255}`

const FIRST_SHARED_PORT = 20_000

export function createFakeMachine(clock: Clock = realClock): FakeMachine {
  const faults = createFaults(clock)
  const runs = new Map<string, Run>()
  const volumes = new Map<string, FakeVolume>()
  const unknown = new Set<Run>()
  const outputs = createFakeOutputs()
  const started = new Map<string, number>()
  const listeners = new Set<(run: Run) => void>()
  let [addresses, epochs, ports] = [0, 1, FIRST_SHARED_PORT]
  const running = () => [...runs.values(), ...unknown].filter(({ end }) => end === undefined)

  const links = createFakeLinks(running)

  function begin(workload: Workload & { address?: string }): Run {
    const { promise, resolve } = Promise.withResolvers<End>()
    const volume = volumeOf(volumes, workload)
    const run: Run = {
      address: addressAt(++addresses),
      ...workload,
      startedAt: clock.now(),
      end: undefined,
      ended: promise,
      wasLost: false,
      program: new Program({
        ...workload,
        clock,
        files: volume?.files,
        ask: (name) => links.ask(run, name),
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
    volume?.users.add(run)
    runs.set(workload.id, run)
    started.set(workload.id, (started.get(workload.id) ?? 0) + 1)
    return run
  }

  return {
    clock,
    faults,
    runs,
    outputs,
    volumes,
    links,
    begin,
    freePort: () => ports++,
    get epoch() {
      return `epoch-${epochs}`
    },
    onEnd: (listener) => subscribed(listeners, listener),
    output: outputs.written,
    dial: dialAmong(running, clock),
    starts: (id) => started.get(id) ?? 0,
    running: () => running().map(({ id }) => id),
    crash: (id, exitCode) => runs.get(id)?.program.crash(exitCode === undefined ? { signal: 'SIGSEGV' } : { exitCode }),
    restart: ({ forgets }) => {
      if (!forgets) return
      epochs++
      for (const run of runs.values()) unknown.add(run)
      runs.clear()
      links.forget()
    },
    reboot: () => running().forEach(lose),
  }
}

function subscribed<T>(all: Set<T>, one: T): () => void {
  all.add(one)
  return () => void all.delete(one)
}

function lose(run: Run): void {
  run.wasLost = true
  run.program.kill('SIGKILL')
}
