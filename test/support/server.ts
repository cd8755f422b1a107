import type { Database } from 'bun:sqlite'
import { createApp } from '../../server/api/app/app.ts'
import type { Context } from '../../server/boot/serve/context.ts'
import { serviceBelongings } from '../../server/boot/serve/service-belongings.ts'
import { readConfig } from '../../server/boot/settings/config.ts'
import { hasCertificate } from '../../server/edge/certificates/store/certificates.ts'
import { openAuditLog } from '../../server/identity/audit-chain/log.ts'
import { openAuditSigner } from '../../server/identity/audit-chain/signer.ts'
import { loginLimits } from '../../server/identity/throttle/login-counters.ts'
import { createThrottle } from '../../server/identity/throttle/throttle.ts'
import { seedFirstStart } from '../../server/identity/users/seed.ts'
import { migrateDatabase } from '../../server/platform/db/migrate.ts'
import { holdExclusively, openDatabase } from '../../server/platform/db/open.ts'
import { createMailer } from '../../server/platform/mail/mailer.ts'
import { mailSettingsOf } from '../../server/platform/mail/settings.ts'
import { openSealer } from '../../server/platform/secrets/seal.ts'
import { createServerLog } from '../../server/platform/server-log.ts'
import { createHolds } from '../../server/platform/work/holds.ts'
import { noQuota } from '../../server/runtime/space/quota.ts'
import { createShellSeats } from '../../server/runtime/terminals/open-shells.ts'
import { createExitReasons } from '../../server/runtime/workloads/exit-reasons.ts'
import { createCollector } from '../../server/telemetry/logs/collector.ts'
import { createLogHub } from '../../server/telemetry/logs/hub.ts'
import { openLogStore } from '../../server/telemetry/logs/store.ts'
import { openMetricsDatabase } from '../../server/telemetry/metrics/database.ts'
import { createMetrics } from '../../server/telemetry/metrics/metrics.ts'
import { makeDataDir } from './data-dir.ts'
import { idleEngine, idleIngress, idleRoutes, idleTraffic, idleWork } from './idle-parts.ts'
export const testAdmin = { email: 'admin@localhost', password: 'correct horse battery' }
export const testStaticToken = 'static-token-of-the-test-server-0123456789'

/** One that has room for every plan, whatever the tests run on. */
export const largeMachine = { cpu: 64, memoryBytes: 256 * 1024 ** 3 }

export interface TestServerOptions {
  /** Settings, beside those that keep tests apart from the machine. */
  env?: Record<string, string>
  /** Parts to use instead of idle ones: a real engine, another clock. */
  parts?: Partial<Context>
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
  const db = openDatabase(data.paths.controlDb)
  migrateDatabase(db)
  holdExclusively(db)
  const logged: string[] = []
  const logStore = openLogStore(data.paths.logsDb)
  const log = createServerLog((line) => logged.push(line))
  const samples = openMetricsDatabase(data.paths.metricsDb, log)
  const context: Context = {
    version: '0.0.0-test',
    config,
    publicUrl: config.CP_PUBLIC_URL ?? 'http://localhost:8400',
    paths: data.paths,
    db,
    sealer: openSealer(data.paths.masterKey),
    audit: openAuditLog({ db, signer: openAuditSigner(data.paths.auditKey), log, now: parts.now ?? Date.now }),
    engine: idleEngine,
    ingress: idleIngress,
    routes: idleRoutes,
    ingressProof: 'proof-of-the-tests',
    hasCertificate: (host) => hasCertificate(db, host),
    belongings: serviceBelongings,
    logStore,
    logHub: createLogHub(logStore),
    collector: createCollector({ store: logStore }),
    exitReasons: createExitReasons(),
    shells: createShellSeats(),
    uploads: createHolds(),
    diskQuota: noQuota('a test limits nobody'),
    machine: largeMachine,
    mailer: createMailer(mailSettingsOf(config)),
    logins: createThrottle(loginLimits(config.CP_LOGIN_LIMIT), parts.now ?? Date.now),
    log,
    metrics: createMetrics(samples, { latest: () => undefined, totals: () => new Map(), lagMs: () => 0 }, new AbortController().signal),
    work: idleWork,
    traffic: idleTraffic,
    stopping: new AbortController().signal,
    now: Date.now,
    ...parts,
  }
  await seedFirstStart(context)
  const app = createApp(context)
  const { port } = app.listen(config.CP_LISTEN)
  return {
    url: `http://127.0.0.1:${port}`,
    db,
    context,
    adminToken: testStaticToken,
    logged,
    async close() {
      await app.stop()
      await context.collector.stop()
      context.logHub.close()
      logStore.close()
      samples.close()
      db.close()
      data.remove()
    },
  }
}
