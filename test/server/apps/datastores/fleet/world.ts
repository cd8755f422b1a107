import { Database } from 'bun:sqlite'
import { stat } from 'node:fs/promises'
import { allDatastores, datastoreById, type StoredDatastore } from '../../../../../server/apps/datastores/store.ts'
import type { Context } from '../../../../../server/boot/serve/context.ts'
import { createTestClock } from '../../../../../server/engines/fake/clock.ts'
import { createFakeMachine } from '../../../../../server/engines/fake/machine.ts'
import type { Volumes } from '../../../../../server/engines/port/volumes.ts'
import type { Actor } from '../../../../../server/http/handlers/call.ts'
import { migrateDatabase } from '../../../../../server/platform/db/migrate.ts'
import { permissionNames } from '../../../../../shared/permission.ts'
import { createFleetEngine, type Grounds } from './machine.ts'
import { type Plane, startPlane } from './plane.ts'

/** Databases and stores on a machine in memory, and control planes over them, one after the other. */
export interface Fleet extends Grounds {
  readonly context: Context
  readonly actor: Actor
  /** Lines that all control planes wrote to their own log. */
  readonly logged: string[]
  rows(): StoredDatastore[]
  /** Has other numbers come from here on. */
  seed(below: Grounds['below']): void
  kill(): void
  pass(ms: number): Promise<void>
  close(): void
}

const WORKSPACE = 'tea-fleet'
const SETTLING_STEPS = 60
/** More calls for files than follow the removal of a volume, of which nothing is on a disk. */
const FILE_TURNS = 6

function openDatabase(): Database {
  const db = new Database(':memory:', { strict: true })
  db.run('PRAGMA foreign_keys = ON')
  migrateDatabase(db)
  db.run("INSERT INTO workspaces (id, name, email, created_at) VALUES (?, 'fleet', 'fleet@localhost', 0)", [WORKSPACE])
  db.run("INSERT INTO meta (key, value) VALUES ('seeded', ?)", [JSON.stringify({ workspaceId: WORKSPACE, userId: 'usr-fleet' })])
  return db
}

/** An order that is the same for the same seed, which ids are not. */
const byAge = (one: StoredDatastore, other: StoredDatastore): number =>
  one.createdAt - other.createdAt || one.name.localeCompare(other.name) || one.role.localeCompare(other.role)

export function openFleet(grow: Volumes['capabilities']['grow']): Fleet {
  const db = openDatabase()
  let [isRemoving, numbers] = [false, (_: number) => 0]
  const settled = async () => {
    for (let step = 0; step < SETTLING_STEPS; step++) await Promise.resolve()
    for (let turn = 0; isRemoving && turn < FILE_TURNS; turn++) await stat('/')
    isRemoving = false
  }
  const clock = createTestClock({ settled })
  const machine = createFakeMachine(clock)
  const grounds: Grounds = {
    machine,
    below: (limit) => numbers(limit),
    broken: new Set(),
    kept: new Set(),
    wrong: [],
    onRemove: () => {
      isRemoving = true
    },
    rowOf: (which) => ('id' in which ? datastoreById(db, which.id) : allDatastores(db).find(({ volumeId }) => volumeId === which.volumeId)),
  }
  const logged: string[] = []
  const start = (): Plane => startPlane({ ...grounds, db, clock, engine: createFleetEngine(grounds, grow), logged })
  let plane = start()
  return {
    ...grounds,
    logged,
    actor: {
      ...{ type: 'user', id: 'usr-fleet', name: 'fleet', workspaceId: WORKSPACE, role: 'admin', scope: undefined },
      permissions: new Set(permissionNames),
    },
    get context() {
      return plane.context
    },
    rows: () => allDatastores(db).toSorted(byAge),
    seed(below) {
      numbers = below
    },
    kill() {
      plane.kill()
      plane = start()
    },
    async pass(ms) {
      await clock.advance(ms)
      await stat('/')
    },
    close() {
      plane.kill()
      db.close()
    },
  }
}
