import type { Database } from 'bun:sqlite'
import { createApp } from '../../server/api/app/app.ts'
import { compose } from '../../server/boot/serve/compose.ts'
import type { Context, GivenParts } from '../../server/boot/serve/context.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { createServerLog } from '../../server/platform/server-log.ts'
import { makeDataDir } from './data-dir.ts'
import { idleEngine, idleIngress, idlePrograms, idleRoutes, idleTelemetry, idleWork } from './idle-parts.ts'

export const testAdmin = { email: 'admin@localhost', password: 'correct horse battery' }
export const testStaticToken = 'static-token-of-the-test-server-0123456789'

/** One that has room for every plan, whatever the tests run on. */
export const largeMachine = { cpu: 64, memoryBytes: 256 * 1024 ** 3 }

export interface TestServerOptions {
  /** Settings, beside those that keep tests apart from the machine. */
  env?: Record<string, string>
  /** Parts to use instead of idle ones: a real engine, another clock. */
  parts?: GivenParts
}

export interface TestServer {
  url: string
  db: Database
  context: Context
  /** The static token: the seeded administrator of the default workspace. */
  adminToken: string
  /** Lines the server wrote to its own log. */
  logged: string[]
  close(): Promise<void>
}

/** The whole API on a free loopback port, with a real database and log store, and idle engine and ingress unless given. */
export async function startTestServer({ env = {}, parts = {} }: TestServerOptions = {}): Promise<TestServer> {
  const data = makeDataDir()
  const config = readConfig(
    {
      CP_DATA_DIR: data.dir,
      CP_LISTEN: '127.0.0.1:0',
      CP_ADMIN_PASSWORD: testAdmin.password,
      SERVICE_API_TOKEN: testStaticToken,
      CP_RATE_LIMIT: '0',
      ...env,
    },
    {},
    false,
  )
  const logged: string[] = []
  const log = createServerLog((line) => logged.push(line))
  const { context, close } = await compose({
    config,
    version: '0.0.0-test',
    log,
    parts: {
      publicUrl: config.CP_PUBLIC_URL ?? 'http://localhost:8400',
      engine: idleEngine,
      programs: idlePrograms,
      ingress: idleIngress,
      routes: idleRoutes,
      ingressProof: 'proof-of-the-tests',
      machine: largeMachine,
      telemetry: idleTelemetry(data.paths, log),
      work: idleWork,
      ...parts,
    },
  })
  const app = createApp(context)
  const { port } = app.listen(config.CP_LISTEN)
  return {
    url: `http://127.0.0.1:${port}`,
    db: context.db,
    context,
    adminToken: testStaticToken,
    logged,
    async close() {
      await app.stop()
      await close()
      data.remove()
    },
  }
}
