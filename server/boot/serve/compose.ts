import { datastoreById, isDatastore } from '../../apps/datastores/store.ts'
import { createLinkPublisher } from '../../apps/private-network/publish.ts'
import { deployKeyCredentials } from '../../apps/repositories/deploy-keys/operations.ts'
import { serviceById } from '../../apps/services/store.ts'
import { passOverUsedUids } from '../../apps/services/user-ids.ts'
import { hostCredentials } from '../../apps/source-hosts/hosts/credential.ts'
import { hostWhereabouts } from '../../apps/source-hosts/hosts/whereabouts.ts'
import { sharedApp } from '../../apps/source-hosts/providers/github/apps.ts'
import { giteaAuthority } from '../../apps/source-hosts/providers/reach.ts'
import { acmeSettingsOf } from '../../edge/certificates/acme/settings.ts'
import { hasCertificate } from '../../edge/certificates/store/certificates.ts'
import { ensureIngressProof } from '../../edge/routing/ingress-proof.ts'
import { createRoutePublisher } from '../../edge/routing/publish.ts'
import { publicUrlOf } from '../../http/settings.ts'
import { openAuditLog } from '../../identity/audit-chain/log.ts'
import { openAuditSigner } from '../../identity/audit-chain/signer.ts'
import { providerSettingsOf } from '../../identity/oauth/providers/settings.ts'
import { loginLimits } from '../../identity/throttle/login-counters.ts'
import { createThrottle } from '../../identity/throttle/throttle.ts'
import { type FirstStart, seedFirstStart } from '../../identity/users/seed.ts'
import { createIngressClient } from '../../ingress/control/client.ts'
import { migrateDatabase } from '../../platform/db/migrate.ts'
import { holdExclusively, openDatabase } from '../../platform/db/open.ts'
import { type DataLock, lockDataDir } from '../../platform/files/lock.ts'
import { keyValueServers } from '../../platform/key-value/client.ts'
import { readMachine } from '../../platform/machine.ts'
import { createMailer } from '../../platform/mail/mailer.ts'
import { mailSettingsOf } from '../../platform/mail/settings.ts'
import { dialTcp } from '../../platform/network/dial.ts'
import { systemLookup } from '../../platform/outgoing/resolve.ts'
import { type Paths, pathsOf } from '../../platform/paths.ts'
import { connectPostgres } from '../../platform/postgres/connect.ts'
import { openSealer } from '../../platform/secrets/seal.ts'
import { findSealed } from '../../platform/secrets/sealed-row.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { realClock } from '../../platform/work/clock.ts'
import { createLeases } from '../../platform/work/leases.ts'
import { publishTogether } from '../../platform/work/publisher.ts'
import { embedded } from '../../runtime/programs/embedded.ts'
import { openPrograms, type ProgramsOptions } from '../../runtime/programs/programs.ts'
import { createOpenShells } from '../../runtime/terminals/open-shells.ts'
import { createExitReasons } from '../../runtime/workloads/exit-reasons.ts'
import { type Collector, createCollector } from '../../telemetry/logs/collector.ts'
import { createLogHub } from '../../telemetry/logs/hub.ts'
import { createOutputLogs } from '../../telemetry/logs/outputs.ts'
import { DEFAULT_LOG_RATE } from '../../telemetry/logs/rate.ts'
import { openLogStore } from '../../telemetry/logs/store.ts'
import { startMetrics } from '../../telemetry/metrics/start.ts'
import { startTraffic } from '../../telemetry/traffic/start.ts'
import type { Config } from '../settings/config.ts'
import { ownArguments, ownEnvironment } from '../settings/environment.ts'
import { repairUpgrade } from '../upgrade/repair.ts'
import { noteTrial } from '../upgrade/trial-process.ts'
import { type Building, openBuilder } from './builders.ts'
import type { Context, GivenParts, RunningTelemetry } from './context.ts'
import { hostServicesOf, openEngine } from './engines.ts'
import { ensureDataFolders } from './folders.ts'
import { serviceBelongings } from './service-belongings.ts'
import { createWork, type RunningWork } from './work.ts'

export interface ComposeOptions {
  config: Config
  version: string
  /** This executable, which also runs JavaScript apps where no node is installed; absent where nothing is built. */
  executable?: string
  /** Set for a new version that an old one has started to see whether it is healthy: that one holds the lock. */
  isOnTrial?: boolean
  log: ServerLog
  /** Parts to use instead of those made here, such as another engine or clock. */
  parts?: GivenParts
}

export interface Composed {
  context: Context
  work: RunningWork
  firstStart: FirstStart | undefined
  /** Stops what runs and closes what is open. Instances and the ingress go on. */
  close(): Promise<void>
}

const outward = { dial: dialTcp, lookup: systemLookup, connectPostgres, keyValueServers }

/** Makes each part once that is not given. @throws AppError unavailable where the data directory cannot be served, bad_request for settings that lack others. */
export async function compose(options: ComposeOptions): Promise<Composed> {
  const { config, version, log } = options
  const { telemetry: ownTelemetry, ...parts } = options.parts ?? {}
  const acme = acmeSettingsOf(config)
  const hostServices = hostServicesOf(config)
  checkSettings(config)
  const mailer = parts.mailer ?? createMailer(mailSettingsOf(config))
  const paths = pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE)
  await ensureDataFolders(paths)
  const lock = await takeData(options, paths)
  const stopper = new AbortController()
  const machine = parts.machine ?? readMachine()
  const basis: Basis = {
    config,
    version,
    paths,
    log,
    machine,
    mailer,
    stopping: stopper.signal,
    now: parts.now ?? Date.now,
    after: parts.after ?? realClock.after,
  }
  const { firstStart, ...kept } = await openStores(basis)
  const programs = parts.programs ?? (await openPrograms({ ...programsOf(basis), isOnTrial: options.isOnTrial === true }))
  const engine = parts.engine ?? (await openEngine({ ...basis, programs }, hostServices))
  const building = await openBuilding(options, { ...basis, ...kept, engine })
  const onError = (error: unknown) => log.error('logs not collected', describeError(error))
  // A version that fails its trial has its log database replaced by that of before, which is to find what was written since.
  const collector = createCollector({ store: kept.logStore, keepsSources: options.isOnTrial === true, onError })
  const telemetry = ownTelemetry ?? startTelemetry({ ...basis, ...kept, engine, collector })
  const base = {
    ...basis,
    ...kept,
    engine,
    programs,
    ...outward,
    ...building,
    outputLogs: createOutputLogs({ outputs: engine.output, collector, store: kept.logStore, rate: DEFAULT_LOG_RATE, onError }),
    traffic: telemetry.traffic,
    metrics: telemetry.metrics,
    ingress: parts.ingress ?? createIngressClient(paths.ingressSocket),
    publicUrl: publicUrlOf(config),
    ingressProof: ensureIngressProof(paths.ingressProof),
    hasCertificate: (host: string) => hasCertificate(kept.db, host),
    belongings: serviceBelongings,
    credentials: [hostCredentials({ ...basis, ...kept, ...outward, ...parts }), deployKeyCredentials({ ...basis, ...kept })],
    whereabouts: hostWhereabouts({ ...basis, ...kept, ...outward, ...parts }),
    logins: createThrottle(loginLimits(config.CP_LOGIN_LIMIT), basis.now),
    exitReasons: createExitReasons(),
    shells: createOpenShells(),
    uploads: createLeases(),
  }
  const routes = parts.routes ?? publishTogether([createRoutePublisher(base), createLinkPublisher(base)])
  const { context, work } = createWork({ ...base, routes, ...parts }, acme)
  const close = async () => {
    stopper.abort(new Error('The control plane stops.'))
    await Promise.all([work.settled(), telemetry.stop()])
    context.logHub.close()
    await context.outputLogs.settled()
    await collector.stop()
    await closeContext(context)
    lock.release()
  }
  return { context, work, firstStart, close }
}

/** Settings of which some take others. Who needs them makes them anew. */
function checkSettings(config: Config): void {
  for (const settingsOf of [providerSettingsOf, sharedApp, giteaAuthority]) settingsOf(config)
}

type Basis = Pick<Context, 'config' | 'version' | 'paths' | 'log' | 'machine' | 'mailer' | 'stopping' | 'now' | 'after'>
type Stores = Pick<Context, 'db' | 'sealer' | 'audit' | 'logStore' | 'logHub'>

const programsOf = ({ paths, config, log }: Pick<Basis, 'paths' | 'config' | 'log'>): ProgramsOptions => ({
  folder: paths.engines,
  embedded,
  postgresDirs: config.CP_POSTGRES_DIR,
  valkey: config.CP_VALKEY_PROGRAM,
  pooler: config.CP_PGBOUNCER_PROGRAM,
  onProblem: (problem) => log.error('program not used', { problem }),
})

async function takeData({ isOnTrial, log }: ComposeOptions, paths: Paths): Promise<DataLock> {
  if (isOnTrial) {
    noteTrial(paths)
    return { release() {} }
  }
  const lock = lockDataDir(paths.lock, paths.data)
  await repairUpgrade({ paths, serveArguments: ownArguments(), environment: ownEnvironment(), log })
  return lock
}

async function openStores({ config, version, paths, log, now }: Basis): Promise<Stores & { firstStart: FirstStart | undefined }> {
  const db = openDatabase(paths.controlDb)
  migrateDatabase(db)
  holdExclusively(db)
  passOverUsedUids(db, paths.services)
  const sealer = openSealer(paths.masterKey, findSealed(db))
  const audit = openAuditLog({ db, signer: openAuditSigner(paths.auditKey), log, now })
  const firstStart = await seedFirstStart({
    ...{ db, config, now },
    onSeeded: ({ userId, workspaceId, email }) =>
      audit.system({ event: 'server.first_started', workspaceId, target: userId, metadata: { email, version } }),
  })
  const logStore = openLogStore(paths.logsDb)
  return { db, sealer, audit, logStore, logHub: createLogHub(logStore), firstStart }
}

function startTelemetry(context: Basis & Stores & Pick<Context, 'engine'> & { collector: Collector }): RunningTelemetry {
  const { db } = context
  const traffic = startTraffic({ ...context, isWanted: (id) => serviceById(db, id)?.deletedAt === null || isDatastore(db, id) })
  const metrics = startMetrics({
    ...context,
    sampler: traffic.reader,
    isService: (id) => serviceById(db, id) !== undefined || datastoreById(db, id) !== undefined,
  })
  return {
    traffic: traffic.reader,
    metrics: metrics.metrics,
    async stop() {
      await traffic.stop()
      await metrics.stop()
    },
  }
}

async function openBuilding({ executable, parts = {} }: ComposeOptions, basis: Basis & Pick<Context, 'db' | 'engine'>): Promise<Building> {
  const { artifacts, builder } = parts
  if (artifacts !== undefined && builder !== undefined) return { artifacts, builder }
  return await openBuilder({ ...basis, ...(executable !== undefined && { executable }) })
}

async function closeContext({ engine, logStore, db }: Context): Promise<void> {
  await engine.close()
  logStore.close()
  db.close()
}
