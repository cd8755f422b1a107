import { Database } from 'bun:sqlite'
import { createTestClock, type TestClock } from '../../../../server/engines/fake/clock.ts'
import { createFakeEngine } from '../../../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../../../server/engines/fake/machine.ts'
import type { Engine } from '../../../../server/engines/port/port.ts'
import type { InstanceSpec } from '../../../../server/engines/port/workload.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { createExitReasons } from '../../../../server/runtime/workloads/exit-reasons.ts'
import { createKeeper, type Keeper } from '../../../../server/runtime/workloads/keeper.ts'
import type { UnitEngine } from '../../../../server/runtime/workloads/keeping.ts'
import type { WorkloadEnd, WorkloadOwner, WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import { allWorkloads, type StoredWorkload } from '../../../../server/runtime/workloads/store.ts'

/** What was told of the ends of each workload, by id. */
export type Ends = Map<string, WorkloadEnd['kind'][]>

export function specOf({ id, ownerId, spec }: StoredWorkload): InstanceSpec {
  return {
    instanceId: id,
    deployId: '',
    command: String(spec.command),
    env: () => ({}),
    owner: { id: ownerId, number: 1 },
    files: { artifact: 'none' },
    network: 'none',
    stack: { kind: 'host' as const, folders: [], searchPath: [] },
    limits: { cpu: 1, memoryBytes: 1, pids: 1 },
    outputName: id,
  }
}

export interface EchoOptions {
  restarts: WorkloadPolicy['restarts']
  /** Whether no two replicas may be beside each other, whatever set they are of. */
  isExclusive?: boolean
  /** What a replica waits for that is healthy some time after it runs. */
  untilReady?: WorkloadOwner['untilReady']
}

/** What owners of the kind remember beside the rows. */
interface EchoMemory {
  ends: Ends
  /** How many replicas there have been, by set. */
  replicas: Map<string, number>
  freezesFailed: string[]
  isHeld: boolean
}

/** An owner of its own kind: all that it takes is this policy. */
export const echoOwner = ({ restarts, isExclusive = false, untilReady }: EchoOptions, memory: EchoMemory): WorkloadOwner => ({
  ownerKind: 'echo',
  purpose: 'echo',
  policy: { restarts },
  newId({ id }) {
    const count = memory.replicas.get(id) ?? 0
    memory.replicas.set(id, count + 1)
    return count === 0 ? id : `${id}-${count}`
  },
  isExclusive: () => isExclusive,
  isHeld: () => memory.isHeld,
  specOf: async (workload) => specOf(workload),
  follow() {},
  closeOutput: async () => {},
  onEnd: ({ id }, { kind }) => void memory.ends.set(id, [...(memory.ends.get(id) ?? []), kind]),
  onFreezeFailed: ({ id }) => void memory.freezesFailed.push(id),
  graceMs: () => 1000,
  ...(untilReady && { untilReady }),
})

export interface EchoWorldState {
  db: Database
  clock: TestClock
  machine: FakeMachine
  engine: Engine
  memory: EchoMemory
}

/** A machine with sets on it, and control planes one after the other. */
export interface EchoWorld extends EchoWorldState {
  ends: Ends
  /** The keeper of the control plane that is alive. */
  sets(): Keeper
  /** Writes down that a command is to run. */
  add(id: string, command: string, replicas?: number): void
  stop(id: string): void
  rows(): StoredWorkload[]
  /** Has the control plane look at everything and lets time pass. */
  pass(ms: number): Promise<void>
  /** Ends the control plane at this instant; another takes its place. What it has asked and not been answered is not written down. */
  replace(): void
  close(): void
}

export function makeEchoWorld(restarts: WorkloadPolicy['restarts'], options: Omit<EchoOptions, 'restarts'> = {}): EchoWorld {
  const db = new Database(':memory:', { strict: true })
  db.run('PRAGMA foreign_keys = ON')
  migrateDatabase(db)
  const clock = createTestClock()
  const machine = createFakeMachine(clock)
  const engine = createFakeEngine(machine)
  const memory: EchoMemory = { ends: new Map(), replicas: new Map(), freezesFailed: [], isHeld: false }
  const state = { db, clock, machine, engine, memory }
  const start = () => startPlane(state, { restarts, ...options })
  let plane = start()
  return {
    ...state,
    ends: memory.ends,
    sets: () => plane.keeper,
    add: (id, command, replicas = 1) =>
      plane.keeper.apply({ id, ownerKind: 'echo', ownerId: 'echo-1', purpose: 'echo', spec: { command }, replicas }),
    stop: (id) => plane.keeper.drop(id),
    rows: () => allWorkloads(db),
    async pass(ms) {
      plane.keeper.pokeAll()
      await clock.advance(ms)
    },
    replace() {
      plane.kill()
      plane = start()
    },
    close() {
      plane.kill()
      db.close()
    },
  }
}

function startPlane({ db, clock, machine, engine, memory }: EchoWorldState, options: EchoOptions): { keeper: Keeper; kill(): void } {
  const stopper = new AbortController()
  const own = mortal(engine, machine, stopper.signal)
  const keeper = createKeeper(
    {
      ...{ db, engine: own, exitReasons: createExitReasons(), log: { info() {}, error() {} } },
      ...{ now: clock.now, after: clock.after, signal: stopper.signal },
    },
    () => [echoOwner(options, memory)],
  )
  const stopListening = own.onExit(keeper.poke)
  const kill = () => {
    stopListening()
    stopper.abort(new Error('killed'))
  }
  return { keeper, kill }
}

/** An engine as a control plane sees it that may die: nothing comes back to the dead, and what they have not said yet is not said. */
function mortal(engine: Engine, { faults }: FakeMachine, signal: AbortSignal): UnitEngine {
  const ask = async <T>(call: () => Promise<T>): Promise<T> => {
    await faults.reachable()
    if (signal.aborted) return await new Promise(() => {})
    try {
      const answer = await call()
      return signal.aborted ? await new Promise(() => {}) : answer
    } catch (error) {
      return signal.aborted ? await new Promise(() => {}) : Promise.reject(error)
    }
  }
  return {
    get epoch() {
      return engine.epoch
    },
    start: (spec) => ask(() => engine.start(spec)),
    inspect: (id) => ask(() => engine.inspect(id)),
    stop: (id, options) => ask(() => engine.stop(id, options)),
    remove: (id) => ask(() => engine.remove(id)),
    freeze: (id) => ask(() => engine.freeze(id)),
    thaw: (id) => ask(() => engine.thaw(id)),
    onExit: engine.onExit,
  }
}
