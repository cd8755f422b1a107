import { Database } from 'bun:sqlite'
import { createTestClock, type TestClock } from '../../../../server/engines/fake/clock.ts'
import { createFakeEngine } from '../../../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../../../server/engines/fake/machine.ts'
import type { Engine } from '../../../../server/engines/port/port.ts'
import type { InstanceSpec } from '../../../../server/engines/port/workload.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { createExitReasons } from '../../../../server/runtime/workloads/exit-reasons.ts'
import type { WorkloadEnd, WorkloadOwner, WorkloadPolicy } from '../../../../server/runtime/workloads/owner.ts'
import { allWorkloads, insertWorkload, type StoredWorkload, updateWorkload } from '../../../../server/runtime/workloads/store.ts'
import { createSupervisor, type Supervisor } from '../../../../server/runtime/workloads/supervisor.ts'

/** What was told of the ends of each workload, by id. */
export type Ends = Map<string, WorkloadEnd['kind'][]>

export function specOf({ id, ownerId, spec }: StoredWorkload): InstanceSpec {
  return {
    instanceId: id,
    deployId: '',
    command: String(spec.command),
    env: () => ({}),
    owner: { serviceId: ownerId, workspaceId: 'wsp-1', number: 1 },
    files: { artifact: 'none' },
    network: 'none',
    stack: { kind: 'host' as const, folders: [], searchPath: [] },
    limits: { cpu: 1, memoryBytes: 1, pids: 1 },
    outputName: id,
  }
}

/** An owner of its own kind: all that it takes is this policy. */
export const echoOwner = (restarts: WorkloadPolicy['restarts'], ends: Ends): WorkloadOwner => ({
  ownerKind: 'echo',
  purpose: 'echo',
  policy: { restarts, starts: 'when_due' },
  specOf: async (workload) => specOf(workload),
  follow() {},
  closeOutput: async () => {},
  onEnd: ({ id }, { kind }) => void ends.set(id, [...(ends.get(id) ?? []), kind]),
  graceMs: () => 1000,
})

/** A machine with workloads on it, and control planes one after the other. */
export interface EchoWorld {
  db: Database
  clock: TestClock
  machine: FakeMachine
  engine: Engine
  ends: Ends
  /** Writes down that a command is to run. */
  add(id: string, command: string): void
  stop(id: string): void
  rows(): StoredWorkload[]
  /** Has the control plane look at everything and lets time pass. */
  pass(ms: number): Promise<void>
  /** Ends the control plane at this instant; another takes its place. What it has asked and not been answered is not written down. */
  replace(): void
  close(): void
}

export function makeEchoWorld(restarts: WorkloadPolicy['restarts']): EchoWorld {
  const db = new Database(':memory:', { strict: true })
  db.run('PRAGMA foreign_keys = ON')
  migrateDatabase(db)
  const clock = createTestClock()
  const machine = createFakeMachine(clock)
  const engine = createFakeEngine(machine)
  const ends: Ends = new Map()
  let plane = startPlane()

  function startPlane(): { supervisor: Supervisor; kill(): void } {
    const stopper = new AbortController()
    const supervisor = createSupervisor(
      {
        db,
        engine: mortal(engine, machine, stopper.signal),
        exitReasons: createExitReasons(),
        log: { info() {}, error() {} },
        now: clock.now,
        after: clock.after,
        signal: stopper.signal,
      },
      [echoOwner(restarts, ends)],
    )
    return { supervisor, kill: () => stopper.abort(new Error('killed')) }
  }

  return {
    db,
    clock,
    machine,
    engine,
    ends,
    add: (id, command) =>
      insertWorkload(db, { id, ownerKind: 'echo', ownerId: 'echo-1', purpose: 'echo', spec: { command }, createdAt: clock.now() }),
    stop: (id) => updateWorkload(db, id, { phase: 'stopping' }),
    rows: () => allWorkloads(db),
    async pass(ms) {
      plane.supervisor.pokeAll()
      await clock.advance(ms)
    },
    replace() {
      plane.kill()
      plane = startPlane()
    },
    close() {
      plane.kill()
      db.close()
    },
  }
}

type Asked = 'start' | 'inspect' | 'stop' | 'remove'

/** An engine as a control plane sees it that may die: nothing comes back to the dead, and what they have not said yet is not said. */
function mortal(engine: Engine, { faults }: FakeMachine, signal: AbortSignal): Pick<Engine, Asked | 'epoch' | 'onExit'> {
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
    onExit: engine.onExit,
  }
}
