import type { AppError } from '../../shared/error.ts'
import type { TransferProgress } from '../../shared/postgres-transfer.ts'
import type { Builder } from '../builders/port.ts'
import type { BuilderSettings } from '../builders/settings.ts'
import type { Engine } from '../engines/port/port.ts'
import type { Sets } from '../engines/port/sets.ts'
import type { IdentityContext } from '../identity/context.ts'
import type { IngressClient } from '../ingress/control/client.ts'
import type { IngressSettings } from '../ingress/settings.ts'
import type { KeyValueServers } from '../platform/key-value/port.ts'
import type { Dial } from '../platform/network/dial.ts'
import type { Lookup } from '../platform/outgoing/resolve.ts'
import type { Paths } from '../platform/paths.ts'
import type { ConnectPostgres } from '../platform/postgres/connect.ts'
import type { Leases } from '../platform/work/leases.ts'
import type { Poke } from '../platform/work/poke.ts'
import type { Publisher } from '../platform/work/publisher.ts'
import type { Artifacts } from '../runtime/artifacts/port.ts'
import type { Programs } from '../runtime/programs/port.ts'
import type { RuntimeSettings } from '../runtime/settings.ts'
import type { OpenShells } from '../runtime/terminals/open-shells.ts'
import type { AwaitedWorkloads } from '../runtime/workloads/awaited.ts'
import type { ExitReasons } from '../runtime/workloads/exit-reasons.ts'
import type { LogHub } from '../telemetry/logs/hub.ts'
import type { OutputLogs } from '../telemetry/logs/outputs.ts'
import type { LogStore } from '../telemetry/logs/store.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import type { TrafficReader } from '../telemetry/traffic/port.ts'
import type { BackupSettings } from './backups/settings.ts'
import type { Belongings } from './belongings.ts'
import type { CredentialSource } from './repositories/access/credential.ts'
import type { WhereaboutsSource } from './repositories/access/whereabouts.ts'
import type { AppSettings } from './settings.ts'
import type { SourceHostSettings } from './source-hosts/settings.ts'

/** Ways of replicas to wherever their primaries are at each moment. Both calls can be repeated. */
export interface Ways {
  open(replica: { id: string; number: number; primaryId: string | null }): Promise<void>
  remove(replica: { id: string }): Promise<void>
}

export interface RefOutcome {
  ref: string
  refusal?: string
}

/** Pushes of git: one at a time for a service, from the first of its objects until its refs have moved or not. */
export interface PushWork {
  /** Takes the turn of a service until the push is written down or refused. @throws AppError conflict while another has it. */
  enter(serviceId: string): () => void
  /** Has the refs of a push that is written down follow its deploy. What became of each. @throws what ends the control plane. */
  conclude(pushId: string): Promise<readonly RefOutcome[]>
}

/** What routes and work ask for to be done soon; durable intent is in the database before they ask. */
export interface AppWork {
  readonly poke: Poke<
    'workspace' | 'service' | 'jobs' | 'deploys' | 'disk' | 'datastore' | 'certificates' | 'webhooks' | 'sourceHost' | 'previews'
  >
  /** Stops the build or pre-deploy command of a deploy that is to be canceled, or that fails for this reason. */
  interruptDeploy(deployId: string, because?: AppError): void
  deployEnded(deployId: string): void
  /** Sees to it that a database that goes can be recovered, before anything of it is taken away. Repeatable. */
  keepLastBackup(datastoreId: string): Promise<void>
  isBackingUp(datastoreId: string): boolean
  /** Returns when backups have all of the log that a database has written, or do not get it. */
  untilLogReceived(datastoreId: string): Promise<void>
  readonly ways: Ways
  readonly pushes: PushWork
  /** Disks that a command has, by their services: they are neither replaced nor grown meanwhile. */
  readonly takenDisks: Leases
  whenDeploysSettled(serviceId: string): Promise<void>
  readonly awaited: AwaitedWorkloads
  cancelTransfer(id: string): void
  /** How far an export or import is; undefined for one that does not run. */
  transferProgress(id: string): Promise<TransferProgress | undefined>
}

export interface AppContext extends IdentityContext {
  readonly config: IdentityContext['config'] &
    AppSettings &
    BackupSettings &
    BuilderSettings &
    IngressSettings &
    RuntimeSettings &
    SourceHostSettings
  readonly paths: Paths
  readonly engine: Engine
  readonly dial: Dial
  readonly programs: Programs
  readonly connectPostgres: ConnectPostgres
  readonly keyValueServers: KeyValueServers
  readonly lookup: Lookup
  readonly artifacts: Artifacts
  readonly builder: Builder
  readonly sets: Sets
  readonly ingress: IngressClient
  readonly routes: Publisher
  readonly traffic: TrafficReader
  readonly logStore: LogStore
  readonly logHub: LogHub
  readonly outputLogs: OutputLogs
  readonly metrics: Metrics
  readonly exitReasons: ExitReasons
  readonly shells: OpenShells
  readonly uploads: Leases
  readonly work: AppWork
  hasCertificate(host: string): boolean
  /** The first that knows a repository lets git in there. */
  readonly credentials: readonly CredentialSource[]
  readonly whereabouts: WhereaboutsSource
  readonly belongings: readonly Belongings<AppContext>[]
}
