import type { Database } from 'bun:sqlite'
import type { DatastoreServers } from '../../../../../server/apps/datastores/kind.ts'
import { datastoreOwner } from '../../../../../server/apps/datastores/owner.ts'
import { createDatastoreWork } from '../../../../../server/apps/datastores/work.ts'
import { clusterOwner } from '../../../../../server/apps/postgres/cluster.ts'
import type { Context } from '../../../../../server/boot/serve/context.ts'
import { datastoreServers } from '../../../../../server/boot/serve/datastore-servers.ts'
import { pokeOwner } from '../../../../../server/boot/serve/workloads.ts'
import { readConfig } from '../../../../../server/boot/settings/config.ts'
import type { TestClock } from '../../../../../server/engines/fake/clock.ts'
import type { Engine } from '../../../../../server/engines/port/port.ts'
import { afterChange } from '../../../../../server/platform/db/change.ts'
import { pathsOf } from '../../../../../server/platform/paths.ts'
import { createSealer } from '../../../../../server/platform/secrets/seal.ts'
import { every, pause } from '../../../../../server/platform/work/clock.ts'
import { createAwaitedWorkloads } from '../../../../../server/runtime/workloads/awaited.ts'
import { createExitReasons } from '../../../../../server/runtime/workloads/exit-reasons.ts'
import { createKeeper } from '../../../../../server/runtime/workloads/keeper.ts'
import { idlePrograms, idleRoutes, idleWork } from '../../../../support/idle-parts.ts'
import { type Life, mortal, mortalClock, mortalEngine } from '../../../../support/mortal.ts'
import { largeMachine } from '../../../../support/server.ts'
import type { Grounds } from './machine.ts'
import { connectIn, keyValueServersIn } from './peers.ts'

/** A control plane of datastores alone: what it lives by of the whole one, with nothing of it in files. */
export interface Plane {
  readonly context: Context
  /** Ends it at this instant, as SIGKILL does. */
  kill(): void
}

const PERIOD_MS = 60_000
const READY_PAUSE_MS = 50
const GRACE_MS = 2000
const sealer = createSealer(Buffer.alloc(32, 7))
const config = readConfig({ CP_DATA_DIR: '/nonexistent/fleet' }, {}, false)
const paths = pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE)

export interface PlaneParts extends Grounds {
  db: Database
  clock: TestClock
  engine: Engine
  logged: string[]
}

export function startPlane(parts: PlaneParts): Plane {
  const { db, machine, logged } = parts
  const life: Life = { isOver: false }
  const never = new AbortController().signal
  const clock = mortalClock(parts.clock, life)
  const engine = Object.assign(Object.create(mortalEngine(parts.engine, life)), { volumes: mortal(parts.engine.volumes, life) })
  const log = { info() {}, error: (event: string, fields: object = {}) => void logged.push(`${event} ${JSON.stringify(fields)}`) }
  const exitReasons = createExitReasons()
  const keeper = createKeeper({ db, engine, exitReasons, log, ...clock, signal: never }, () => [
    datastoreOwner(context, servers),
    clusterOwner(context),
  ])
  const poke = (kind: string, id = '') => {
    if (kind === 'datastore') afterChange(db, () => work.poke(id))
  }
  const context = {
    ...{ db, engine, log, exitReasons, ...clock, config, paths, sealer, machine: largeMachine, stopping: never, sets: keeper },
    ...{ programs: idlePrograms, routes: idleRoutes, audit: { system() {} } },
    connectPostgres: mortal({ connect: connectIn(machine) }, life).connect,
    keyValueServers: mortal(keyValueServersIn(machine), life),
    outputLogs: { follow() {}, close: async () => {}, list: async () => [], discard: async () => {} },
    logStore: { removeService: async () => {} },
    metrics: { removeService: async () => {}, noteDatastore() {} },
    work: {
      ...idleWork,
      poke,
      awaited: createAwaitedWorkloads({ db, sets: keeper, stopping: never, ...clock }),
      keepLastBackup: async (id: string) => void parts.kept.add(id),
    },
  } as unknown as Context
  const servers = serversOf(context)
  const work = createDatastoreWork(context, servers)
  const pokeAll = () => {
    keeper.pokeAll()
    work.pokeAll()
  }
  engine.onExit(keeper.poke)
  keeper.onChange((owner) => pokeOwner({ poke }, owner))
  every(context, PERIOD_MS, pokeAll)
  void keeper.recover().then(pokeAll)
  return {
    context,
    kill() {
      life.isOver = true
      void parts.engine.close()
    },
  }
}

/** Servers of the whole control plane; that a server answers is all that is waited for, as passwords take their time to be made. */
function serversOf(context: Context): DatastoreServers {
  const { postgres, key_value } = datastoreServers(context)
  if (postgres === undefined || key_value === undefined) throw new Error('A kind is missing')
  const { figures: _, ...stores } = key_value
  const { figures: __, ...databases } = postgres
  return {
    key_value: { ...stores, graceMs: GRACE_MS },
    postgres: {
      ...databases,
      graceMs: GRACE_MS,
      async untilReady(_datastore, endpoint, signal) {
        const target = { ...endpoint, user: '', password: '', database: '' }
        while ((await context.connectPostgres(target).catch(() => undefined)) === undefined) await pause(context, READY_PAUSE_MS, signal)
      },
    },
  }
}
