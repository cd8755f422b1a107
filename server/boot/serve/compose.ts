import { createHash } from 'node:crypto'
import { AppError } from '../../../shared/error.ts'
import { createLinkPublisher } from '../../apps/private-network/publish.ts'
import { isRoot } from '../../apps/services/folders.ts'
import { serviceById } from '../../apps/services/store.ts'
import { ensureSelfToolchain } from '../../builders/self-toolchain.ts'
import { acmeSettingsOf } from '../../edge/certificates/acme/settings.ts'
import { hasCertificate } from '../../edge/certificates/store/certificates.ts'
import { ensureIngressProof } from '../../edge/routing/ingress-proof.ts'
import { createRoutePublisher } from '../../edge/routing/publish.ts'
import type { Engine } from '../../engines/port/port.ts'
import { createProcessEngine } from '../../engines/process/engine.ts'
import { type HostService, parseHostService, wrongHostService } from '../../engines/process/network/host-services.ts'
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
import { type Machine, readMachine } from '../../platform/machine.ts'
import { createMailer } from '../../platform/mail/mailer.ts'
import { mailSettingsOf } from '../../platform/mail/settings.ts'
import { type Paths, pathsOf } from '../../platform/paths.ts'
import { openSealer } from '../../platform/secrets/seal.ts'
import { findSealed } from '../../platform/secrets/sealed-row.ts'
import { describeError, type ServerLog } from '../../platform/server-log.ts'
import { createHolds } from '../../platform/work/holds.ts'
import { publishTogether } from '../../platform/work/publisher.ts'
import { openDiskQuota } from '../../runtime/space/quota.ts'
import { createShellSeats } from '../../runtime/terminals/open-shells.ts'
import { createExitReasons } from '../../runtime/workloads/exit-reasons.ts'
import { createCollector } from '../../telemetry/logs/collector.ts'
import { createLogHub } from '../../telemetry/logs/hub.ts'
import { DEFAULT_LOG_RATE } from '../../telemetry/logs/rate.ts'
import { openLogStore } from '../../telemetry/logs/store.ts'
import { type RunningMetrics, startMetrics } from '../../telemetry/metrics/start.ts'
import { type RunningTraffic, startTraffic } from '../../telemetry/traffic/start.ts'
import { type Config, ownArguments, ownEnvironment } from '../settings/config.ts'
import { repairUpgrade } from '../upgrade/repair.ts'
import { noteTrial } from '../upgrade/trial-process.ts'
import type { Context } from './context.ts'
import { ensureDataFolders } from './folders.ts'
import { serviceBelongings } from './service-belongings.ts'
import { createWork, type RunningWork } from './work.ts'

export interface ComposeOptions {
  config: Config
  version: string
  /** This executable, which also runs JavaScript apps where no node is installed. */
  executable: string
  /** Set for a new version that an old one has started to see whether it is healthy: that one holds the lock. */
  isOnTrial?: boolean
  /** In place of the one this runs on. */
  machine?: Machine
  log: ServerLog
}

/** Everything of the control plane, opened and tied together, with nothing running yet. */
export interface Composed {
  context: Context
  work: RunningWork
  /** Present at the very first start only. */
  firstStart: FirstStart | undefined
  /** Stops what runs and closes what is open. Instances and the ingress go on. */
  close(): Promise<void>
}

/**
 * The composition root: makes each part once and gives it to the others.
 *
 * @throws AppError unavailable with the reason why the data directory cannot be served, bad_request for settings that lack others.
 */
export async function compose(options: ComposeOptions): Promise<Composed> {
  const { config, log, version } = options
  const acme = acmeSettingsOf(config)
  providerSettingsOf(config)
  const hostServices = hostServicesOf(config)
  const mailer = createMailer(mailSettingsOf(config))
  const paths = pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE)
  await ensureDataFolders(paths)
  const lock = await takeData(options, paths)
  const now = () => Date.now()
  const db = openDatabase(paths.controlDb)
  migrateDatabase(db)
  holdExclusively(db)
  const sealer = openSealer(paths.masterKey, findSealed(db))
  const audit = openAuditLog({ db, signer: openAuditSigner(paths.auditKey), log, now })
  const firstStart = await seedFirstStart({
    ...{ db, config, now },
    onSeeded: ({ userId, workspaceId, email }) =>
      audit.system({ event: 'server.first_started', workspaceId, target: userId, metadata: { email, version } }),
  })
  await ensureSelfToolchain({ dir: paths.toolchain, executable: options.executable })
  const engine = await openEngine({ paths, config, log }, hostServices)
  const logs = openLogs(paths, log)
  const stopper = new AbortController()
  const stopping = stopper.signal
  const publicUrl = publicUrlOf(config)
  const ingress = createIngressClient(paths.ingressSocket)
  const traffic = startTraffic({ paths, ...logs, log, now, isWanted: (id) => serviceById(db, id)?.deletedAt === null })
  const isService = (id: string) => serviceById(db, id) !== undefined
  const metrics = startMetrics({ db, engine, paths, log, now, sampler: traffic.reader, isService })
  const ingressProof = ensureIngressProof(paths.ingressProof)
  const onQuotaError = (error: unknown) => log.error('disk limit not set', describeError(error))
  const diskQuota = await openDiskQuota({ dataDir: paths.data, isRoot, onError: onQuotaError })
  const machine = options.machine ?? readMachine()
  const given = {
    version,
    config,
    publicUrl,
    machine,
    mailer,
    logins: createThrottle(loginLimits(config.CP_LOGIN_LIMIT), now),
    exitReasons: createExitReasons(),
    shells: createShellSeats(),
    uploads: createHolds(),
    diskQuota,
    paths,
    ingressProof,
    hasCertificate: (host: string) => hasCertificate(db, host),
    belongings: serviceBelongings,
    ...logs,
    log,
    now,
    stopping,
  }
  const base = { ...given, db, sealer, audit, engine, ingress, traffic: traffic.reader, metrics: metrics.metrics }
  const routes = publishTogether([createRoutePublisher(base), createLinkPublisher(base)])
  const { context, work } = createWork({ ...base, routes }, acme)
  const parts = { context, work, lock, stopper, traffic, metrics }
  return { context, work, firstStart, close: () => closeAll(parts) }
}

/** @throws AppError bad_request for one that is no port of this machine, or the API's own. */
function hostServicesOf({ CP_HOST_SERVICES, CP_LISTEN }: Pick<Config, 'CP_HOST_SERVICES' | 'CP_LISTEN'>): HostService[] {
  const services = CP_HOST_SERVICES.map(parseHostService)
  const wrong = wrongHostService(services, [CP_LISTEN.port])
  if (wrong !== undefined)
    throw new AppError('bad_request', `CP_HOST_SERVICES: ${wrong}. Name a port of this machine, such as db=127.0.0.1:5432.`)
  return services
}

/** Takes the data directory, and first of all brings an upgrade to its end that was cut off. */
async function takeData({ isOnTrial, log }: ComposeOptions, paths: Paths): Promise<DataLock> {
  if (isOnTrial) {
    noteTrial(paths)
    return { release() {} }
  }
  const lock = lockDataDir(paths.lock, paths.data)
  await repairUpgrade({ paths, serveArguments: ownArguments(), environment: ownEnvironment(), log })
  return lock
}

async function closeAll({
  context,
  work,
  lock,
  stopper,
  traffic,
  metrics,
}: {
  context: Context
  work: RunningWork
  lock: DataLock
  stopper: AbortController
  traffic: RunningTraffic
  metrics: RunningMetrics
}): Promise<void> {
  stopper.abort(new Error('The control plane stops.'))
  await Promise.all([work.settled(), traffic.stop()])
  await metrics.stop()
  context.logHub.close()
  await context.collector.stop()
  await context.engine.close()
  context.logStore.close()
  context.db.close()
  lock.release()
}

const LABEL_CHARS = 12

/**
 * The engine of this data directory, which takes over what an earlier one left running. The label tells this installation's
 * control groups from those of another on the same machine.
 */
export async function openEngine(
  { paths, config, log }: Pick<Context, 'paths' | 'config' | 'log'>,
  hostServices: readonly HostService[] = [],
): Promise<Engine> {
  const label = `cpd-${createHash('sha256').update(paths.data).digest('hex').slice(0, LABEL_CHARS)}`
  const hiddenDirs = [paths.db, paths.run, paths.uploads, paths.disks]
  const { CP_INSTANCE_SUBNET: subnet, CP_INGRESS_HTTP, CP_INGRESS_HTTPS } = config
  const publicPorts = [CP_INGRESS_HTTP.port, ...(CP_INGRESS_HTTPS === undefined ? [] : [CP_INGRESS_HTTPS.port])]
  return await createProcessEngine({
    stateDir: paths.engineState,
    label,
    hiddenDirs,
    dataDir: paths.data,
    network: { publicPorts, hostServices, ...(subnet !== '' && { subnet }) },
    log: (message) => log.error('engine', { message }),
  })
}

function openLogs(paths: Paths, log: ServerLog): Pick<Context, 'logStore' | 'logHub' | 'collector'> {
  const logStore = openLogStore(paths.logsDb)
  const onError = (error: unknown) => log.error('logs not collected', describeError(error))
  return { logStore, logHub: createLogHub(logStore), collector: createCollector({ store: logStore, rate: DEFAULT_LOG_RATE, onError }) }
}
