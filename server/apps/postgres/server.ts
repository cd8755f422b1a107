import { createHash } from 'node:crypto'
import { type PostgresPlan, postgresPlans } from '../../../shared/postgres.ts'
import { describeError } from '../../platform/server-log.ts'
import { pause } from '../../platform/work/clock.ts'
import type { AppContext } from '../context.ts'
import { handedOut, passwordPurpose } from '../datastores/credential-store.ts'
import { type DatastoreServer, DISK_FULL_EXIT, type ServerEndpoint, type ServerSpec } from '../datastores/kind.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { baseEnv } from '../launch/launch.ts'
import { endClusterRun, makeCluster } from './cluster.ts'
import { configFiles } from './config-files.ts'
import { fitToDisk, liveFileOf } from './fit-to-disk.ts'
import { followerEnv, wayOf } from './following.ts'
import { initialise, type Passwords } from './initialise.ts'
import { poolerOf } from './pooler.ts'
import { programsOf } from './programs.ts'
import { proveParameters, revertParameters } from './prove-parameters.ts'
import { ownOf } from './session.ts'
import { settingsOf } from './settings.ts'
import { START_SCRIPT } from './start-script.ts'
import { type StoredPostgres, updatePostgres } from './store.ts'
import { noteUpgraded, returnIfUpgraded } from './upgrade-request.ts'

const POSTGRES_PORT = 5432
const MIB = 1024 * 1024
const GROWTH_STEP_GB = 5
/** A checkpoint of a large database takes its time; what is killed recovers at its next start. */
const GRACE_MS = 60_000

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 50
/** A server that answers nothing for so long is told of in the log, once. */
const TOLD_AFTER_MS = 30_000

export interface PostgresHooks {
  /** Called at each start but a new one's first, when it answers: what was restored knows users that were deleted since. */
  onStarted(place: { id: string; endpoint: ServerEndpoint }): Promise<void>
  /** Called before each start of what follows a primary, and from then on at each look at it: leads it there. */
  leadToPrimary(datastore: StoredDatastore): Promise<void>
}

export const postgresServer = (context: AppContext, { onStarted, leadToPrimary }: PostgresHooks): DatastoreServer => ({
  port: POSTGRES_PORT,
  graceMs: GRACE_MS,
  async specOf(datastore) {
    if (datastore.primaryId !== null) await leadToPrimary(datastore)
    return await specOf(context, datastore)
  },
  async untilReady(datastore, endpoint, signal) {
    const isFresh = await untilReady(context, { datastore, endpoint }, signal)
    // What was full is so still, and takes no writes before anybody is let in. The watch tries again what fails here.
    if (datastore.diskState === 'full')
      await fitToDisk(context, { datastore, endpoint }, { isChanged: true, isShort: false }).catch((error) =>
        context.log.error('database not fitted to its disk', { datastoreId: datastore.id, ...describeError(error) }),
      )
    if (!isFresh && datastore.primaryId === null) await onStarted({ id: datastore.id, endpoint })
  },
  prepare: (datastore) => prepare(context, datastore),
  beforeRemoval: ({ volumeId }) => endClusterRun(context, volumeId),
  fullDisk: { from: 0.95, under: 0.93 },
  growthStepGb: ({ id }) => (ownOf(context, { id }).isAutoscaling ? GROWTH_STEP_GB : undefined),
  fitToDisk: (datastore, endpoint, disk) => fitToDisk(context, { datastore, endpoint }, disk),
  onReady(datastore) {
    proveParameters(context, datastore)
    noteUpgraded(context, datastore)
  },
  onFailed(datastore, failure) {
    if (failure.isLasting && returnIfUpgraded(context, datastore, failure.why)) return failure.why
    return revertParameters(context, datastore, failure)
  },
})

async function prepare(context: AppContext, datastore: StoredDatastore): Promise<void> {
  const { id, number, volumeId, version } = datastore
  const own = ownOf(context, datastore)
  if (own.hasCluster) return
  const { name: program } = programsOf(context, version)
  const adminPassword = passwordsOf(context, own).admin
  await makeCluster(context, { owner: { id, number }, volumeId, version, program, adminPassword, priority: 'live' })
  updatePostgres(context.db, id, { hasCluster: true })
}

async function specOf(context: AppContext, datastore: StoredDatastore): Promise<ServerSpec> {
  const own = ownOf(context, datastore)
  const { primaryId } = datastore
  const inherited = primaryId === null ? {} : ownOf(context, { id: primaryId }).parameterOverrides
  const { name } = programsOf(context, datastore.version)
  await context.programs.ensure(name)
  const plan = postgresPlans[datastore.plan as PostgresPlan]
  const version = Number(datastore.version)
  const pooler = poolerOf(context, own)
  const files = configFiles({
    id: datastore.id,
    settings: {
      ...settingsOf({ plan, sizeGb: datastore.sizeGb, version }),
      ...inherited,
      ...own.parameterOverrides,
      include_if_exists: liveFileOf(context, datastore),
    },
    hostAddress: context.engine.hostAddress,
    ...(primaryId !== null && { backupPassword: passwordsOf(context, own).backup }),
    ...(pooler !== undefined && {
      pool: { connections: plan.connections, serverPort: POSTGRES_PORT, adminPassword: passwordsOf(context, own).admin },
    }),
  })
  return {
    files: { programs: name },
    ...(primaryId !== null && { material: wayOf(datastore) }),
    command: START_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      LANG: 'C',
      CPD_ID: (datastore.role === 'standby' ? primaryId : null) ?? datastore.id,
      CPD_SECRETS: view.secrets,
      CPD_VOLUME: view.volume ?? '',
      CPD_LISTEN: context.engine.capabilities.ownNetworks ? '*' : '127.0.0.1',
      CPD_DISK_FULL_EXIT: String(DISK_FULL_EXIT),
      CPD_POOLER: pooler ?? '',
      PORT: String(view.port ?? POSTGRES_PORT),
      ...(primaryId !== null && followerEnv(datastore, view)),
      // When memory is short a backend goes before the server, which then recovers by itself (PostgreSQL's manual, 18.4.4).
      PG_OOM_ADJUST_FILE: '/proc/self/oom_score_adj',
      PG_OOM_ADJUST_VALUE: '900',
    }),
    secretFiles: { key: keyOf(files), read: () => files },
    limits: { cpu: plan.cpu, memoryBytes: plan.memoryMb * MIB, pids: plan.pids },
  }
}

const keyOf = (files: unknown): string => `config-${createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 20)}`

const passwordsOf = ({ sealer }: AppContext, { id, adminPasswordSealed, backupPasswordSealed }: StoredPostgres): Passwords => ({
  admin: sealer.open(adminPasswordSealed, passwordPurpose(id, 'admin')),
  backup: sealer.open(backupPasswordSealed, passwordPurpose(id, 'backup')),
})

interface Coming {
  datastore: StoredDatastore
  endpoint: ServerEndpoint
}

/** Returns whether all in it is new. A server refuses while it starts or recovers, for which there is no limit of time: whoever looks at it sees that it is not available. */
async function untilReady(context: AppContext, { datastore, endpoint }: Coming, signal: AbortSignal): Promise<boolean> {
  const own = ownOf(context, datastore)
  const password = handedOut(context.db, context.sealer, own.id)?.password
  const facts = {
    version: Number(datastore.version),
    isNew: datastore.phase === 'creating' && datastore.primaryId === null,
    isFollower: datastore.primaryId !== null,
    ...(password !== undefined && { password }),
  }
  const given = { endpoint, own, passwords: passwordsOf(context, own), ...facts }
  const tellAt = context.now() + TOLD_AFTER_MS
  for (let waitMs = FIRST_PAUSE_MS, isTold = false; ; waitMs = Math.min(waitMs * 2, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted()
    const answer = await initialise(context, given).catch(describeError)
    if (typeof answer === 'boolean') return answer
    if (!isTold && context.now() >= tellAt) context.log.error('database not ready', { datastoreId: datastore.id, ...answer })
    isTold ||= context.now() >= tellAt
    await pause(context, waitMs, signal)
  }
}
