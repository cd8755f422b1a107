import { setTimeout as sleep } from 'node:timers/promises'
import { type AppOptions, createApp } from '../../server/api/app/app.ts'
import { deleteDatastore } from '../../server/apps/datastores/operations.ts'
import { allDatastores } from '../../server/apps/datastores/store.ts'
import { unfinishedDeploys } from '../../server/apps/deploys/store.ts'
import { markDeleted } from '../../server/apps/services/store.ts'
import { compose } from '../../server/boot/serve/compose.ts'
import type { Context } from '../../server/boot/serve/context.ts'
import { recover } from '../../server/boot/serve/recover.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { createServerLog } from '../../server/platform/server-log.ts'
import type { Clock } from '../../server/platform/work/clock.ts'
import { closeInTurn } from './closing.ts'
import { makeDataDir } from './data-dir.ts'
import { type IngressPorts, startTestIngress, type TestIngress } from './ingress.ts'
import { sharedPrograms } from './programs.ts'
import { largeMachine, type TestServer, testAdmin, testStaticToken } from './server.ts'

/** A server that really builds, runs and routes: the process engine and the ingress in a process of its own. */
export interface Platform extends TestServer {
  dataDir: string
  ingress: TestIngress
}

export interface PlatformOptions extends AppOptions {
  /** Where the data directory is made. */
  parent?: string
  /** The ingress serves https as well, at these ports. */
  tls?: IngressPorts
  postgresPort?: number
  clock?: Clock
}

/** Starts the whole platform on a data directory of its own. `close` ends every workload and removes the directory. */
export async function startPlatform(
  env: Record<string, string> = {},
  { parent, tls, postgresPort, clock, ...appOptions }: PlatformOptions = {},
): Promise<Platform> {
  const data = makeDataDir(parent)
  const ingress = await startTestIngress(data.paths, { ...(tls && { tls }), ...(postgresPort !== undefined && { postgresPort }) })
  const config = readConfig(
    {
      CP_DATA_DIR: data.dir,
      CP_LISTEN: '127.0.0.1:0',
      CP_INGRESS_HTTP: ingress.address,
      ...(tls && { CP_INGRESS_HTTPS: ingress.tlsAddress }),
      ...(postgresPort !== undefined && { CP_INGRESS_POSTGRES: `127.0.0.1:${postgresPort}` }),
      CP_ADMIN_PASSWORD: testAdmin.password,
      SERVICE_API_TOKEN: testStaticToken,
      CP_RATE_LIMIT: '0',
      CP_DRAIN_SECONDS: '1',
      // Nobody: no test asks the DNS of the world.
      CP_DNS_RESOLVER: '127.0.0.1:1',
      ...env,
    },
    {},
    process.getuid?.() === 0,
  )
  const logged: string[] = []
  const log = createServerLog((line) => logged.push(line))
  const { context, work, close } = await compose({
    config,
    version: '0.0.0-test',
    executable: process.execPath,
    log,
    parts: { machine: largeMachine, programs: await sharedPrograms(config), ...clock },
  })
  const app = createApp(context, appOptions)
  const { port } = app.listen(config.CP_LISTEN)
  await recover(context, work.keeper)
  work.start()
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir: data.dir,
    db: context.db,
    context,
    adminToken: testStaticToken,
    logged,
    ingress,
    async close() {
      await closeInTurn({
        'removing services': () => deleteServices(context),
        'stopping the API': () => app.stop(),
        'closing the parts': close,
        'closing the ingress': () => ingress.close(),
        'removing the data': data.remove,
      })
    },
  }
}

/** Databases are backed up once more before they go. */
const DELETION_DEADLINE_MS = 110_000

/** Has the platform end and remove everything, as it does for a caller. */
export async function deleteServices(context: Context): Promise<void> {
  const { db, work } = context
  const deadline = Date.now() + DELETION_DEADLINE_MS
  for (const datastore of allDatastores(db)) deleteDatastore(context, datastore, { isForced: true })
  for (const { id } of db.query<{ id: string }, []>('SELECT id FROM services').all()) {
    markDeleted(db, id, Date.now())
    for (const deploy of unfinishedDeploys(db, id)) work.interruptDeploy(deploy.id)
    work.poke('service', id)
  }
  while (db.query(LEFT).get() !== null) {
    if (Date.now() > deadline) throw new Error(`Services were not removed: ${leftOf(db)}`)
    await sleep(50)
  }
}

const LEFT = 'SELECT name FROM services UNION ALL SELECT name FROM datastores'

const leftOf = (db: Context['db']): string =>
  db
    .query<{ name: string }, []>(LEFT)
    .all()
    .map(({ name }) => name)
    .join()
