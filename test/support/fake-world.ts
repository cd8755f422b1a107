import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { compose } from '../../server/boot/serve/compose.ts'
import type { Context } from '../../server/boot/serve/context.ts'
import { recover } from '../../server/boot/serve/recover.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { createFakeBuilder } from '../../server/builders/fake/builder.ts'
import { createTestClock, type TestClock } from '../../server/engines/fake/clock.ts'
import { createFakeEngine } from '../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../server/engines/fake/machine.ts'
import { createServerLog } from '../../server/platform/server-log.ts'
import { createFakeArtifacts } from '../../server/runtime/artifacts/fake.ts'
import { makeDataDir } from './data-dir.ts'
import { idleTelemetry } from './idle-parts.ts'
import { type Life, mortal, mortalClock, mortalEngine } from './mortal.ts'
import { type RecordingIngress, recordIngress } from './recording-ingress.ts'
import { largeMachine, testAdmin, testStaticToken } from './server.ts'

/** A machine and an ingress in memory, a database, a clock of its own, and whole control planes over them, one after the other. */
export interface FakeWorld {
  readonly clock: TestClock
  readonly machine: FakeMachine
  readonly ingress: RecordingIngress
  /** What the control plane of the moment has; another after each `kill`. */
  readonly context: Context
  /** Lines that all of them wrote to their own log. */
  readonly logged: string[]
  /** Ends the control plane at this instant, as SIGKILL does, and starts another on the same data. */
  kill(): Promise<void>
  pass(ms: number): Promise<void>
  close(): Promise<void>
}

interface Plane {
  context: Context
  life: Life
  kill(): Promise<void>
}

const START_AGAIN_MS = 1000

/** More turns of the event loop than promises alone take. */
const TURNS = 3
/** More calls for files, one after the other, than follow a change of the database without another. */
const FILE_TURNS = 120

async function fileTurns(): Promise<void> {
  for (let turn = 0; turn < FILE_TURNS; turn++) await stat('/')
}

/** Resolves when only time can change anything: what the platform does with files it does right after a change of the database. */
function settler(database: () => Database): () => Promise<void> {
  let known: number | undefined
  return async () => {
    for (;;) {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
      const changes = database().query<{ count: number }, []>('SELECT total_changes() AS count').get()?.count
      if (changes === known) return
      known = changes
      await fileTurns()
    }
  }
}

/** Statements that are kept prepared would keep the file locked beyond `close`. */
function giveBack(db: Database): void {
  db.run('PRAGMA locking_mode = NORMAL')
  db.query('SELECT id FROM workspaces').get()
  db.close(true)
}

export async function openFakeWorld(env: Record<string, string> = {}): Promise<FakeWorld> {
  const data = makeDataDir()
  const given = { CP_DATA_DIR: data.dir, CP_ADMIN_PASSWORD: testAdmin.password, SERVICE_API_TOKEN: testStaticToken, ...env }
  const config = readConfig({ CP_DRAIN_SECONDS: '1', CP_DNS_RESOLVER: '127.0.0.1:1', ...given }, {}, process.getuid?.() === 0)
  const clock = createTestClock({ settled: settler(() => plane.context.db) })
  const machine = createFakeMachine(clock)
  const artifacts = createFakeArtifacts()
  const ingress = recordIngress()
  const logged: string[] = []
  let plane = await startPlane()

  async function startPlane(): Promise<Plane> {
    const life: Life = { isOver: false }
    const log = createServerLog((line) => {
      if (!life.isOver) logged.push(line)
    })
    const { traffic, ...telemetry } = idleTelemetry(data.paths, log)
    const { context, work, close } = await compose({
      config,
      version: '0.0.0-test',
      log,
      parts: {
        ...mortalClock(clock, life),
        engine: mortalEngine(createFakeEngine(machine), life),
        artifacts,
        builder: createFakeBuilder(artifacts),
        dial: mortal({ dial: machine.dial }, life).dial,
        ingress: mortal(ingress.client, life),
        machine: largeMachine,
        telemetry: { ...telemetry, traffic: { ...traffic, sampledAt: clock.now } },
      },
    })
    // Where the engine refuses, cpd exits, and is started again a moment later.
    const begin = (): Promise<void> => recover(context, work.keeper).then(work.start, () => void context.after(START_AGAIN_MS, begin))
    void begin()
    const kill = async () => {
      life.isOver = true
      giveBack(context.db)
      // What only waits for the end of a process is told of it; nothing of this reaches the database any more.
      void close().catch(() => {})
      context.logHub.close()
      await telemetry.stop()
      context.logStore.close()
      rmSync(data.paths.lock, { force: true })
    }
    return { context, life, kill }
  }

  return {
    clock,
    machine,
    ingress,
    logged,
    get context() {
      return plane.context
    },
    async kill() {
      await plane.kill()
      plane = await startPlane()
    },
    async pass(ms) {
      await clock.advance(ms)
      await fileTurns()
    },
    async close() {
      await plane.kill()
      data.remove()
    },
  }
}
