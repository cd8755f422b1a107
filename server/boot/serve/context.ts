import type { Database } from 'bun:sqlite'
import type { AppError } from '../../../shared/error.ts'
import type { ExitReasons } from '../../apps/instances/exit-reasons.ts'
import type { ShellSeats } from '../../apps/shells/seats.ts'
import type { RoutePublisher } from '../../edge/routing/publish.ts'
import type { Engine } from '../../engines/port.ts'
import type { AuditLog } from '../../identity/audit-log/log.ts'
import type { Throttle } from '../../identity/auth/throttle.ts'
import type { IngressClient } from '../../ingress/control-client.ts'
import type { Machine } from '../../platform/machine.ts'
import type { Mailer } from '../../platform/mail/mailer.ts'
import type { Paths } from '../../platform/paths.ts'
import type { Sealer } from '../../platform/secrets/seal.ts'
import type { ServerLog } from '../../platform/server-log.ts'
import type { Holds } from '../../platform/work/holds.ts'
import type { DiskQuota } from '../../runtime/space/quota.ts'
import type { Collector } from '../../telemetry/logs/collector.ts'
import type { LogHub } from '../../telemetry/logs/hub.ts'
import type { LogStore } from '../../telemetry/logs/store.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'
import type { TrafficReader } from '../../telemetry/traffic/port.ts'
import type { Config } from '../settings/config.ts'

/** What routes and work ask for to be done soon; durable intent is in the database before they ask. */
export interface Work {
  /** Looks at one service's desired and actual state. */
  pokeService(serviceId: string): void
  /** Looks at the jobs of one service, and at its schedule where it is a cron job. `pokeService` does so, too. */
  pokeJobs(serviceId: string): void
  /** Looks at the queue of deploys. */
  pokeQueue(): void
  /** Stops the build or pre-deploy command of a deploy that is to be canceled, or that fails for this reason. */
  interruptDeploy(deployId: string, because?: AppError): void
  /** Tells that a deploy has come to its end in the database. */
  deployEnded(deployId: string): void
  /** Looks at what is wanted of a disk, and at its snapshots. */
  pokeDisk(diskId: string): void
  /** Looks at the DNS of a custom domain, if it is due, or at what is left of one that was removed. */
  pokeDomain(domainId: string): void
  /** Looks at which certificates are wanted, due, or to be served no longer. */
  pokeCertificates(): void
  /** Goes on with the removal of a workspace that was deleted. */
  pokeWorkspace(workspaceId: string): void
  /** Has a service not fall asleep until the function returned is called; one that is asleep is not woken by it. */
  keepAwake(serviceId: string): () => void
  isKeptAwake(serviceId: string): boolean
  /** Disks that a command has, by their services: they are neither replaced nor grown meanwhile. */
  readonly takenDisks: Holds
  /** Returns when no deploy of the service is being worked on. */
  whenDeploysSettled(serviceId: string): Promise<void>
}

/** Everything the server's parts are given: made once in compose.ts, or with other ports in a test. */
export interface Context {
  readonly version: string
  readonly config: Config
  readonly publicUrl: string
  readonly paths: Paths
  readonly db: Database
  readonly sealer: Sealer
  readonly audit: AuditLog
  readonly engine: Engine
  readonly ingress: IngressClient
  readonly routes: RoutePublisher
  /** What the ingress shows with each request to our own API that came through it. */
  readonly ingressProof: string
  readonly traffic: TrafficReader
  readonly logStore: LogStore
  readonly logHub: LogHub
  readonly collector: Collector
  readonly metrics: Metrics
  readonly log: ServerLog
  readonly mailer: Mailer
  /** Counts failed sign-ins, by whatever way they come. */
  readonly logins: Throttle
  readonly exitReasons: ExitReasons
  readonly diskQuota: DiskQuota
  readonly shells: ShellSeats
  /** Uploads under way, by workspace. */
  readonly uploads: Holds
  /** What plans are held against. */
  readonly machine: Machine
  readonly work: Work
  /** Aborts when the control plane stops: what is under way ends, and goes on at the next start. */
  readonly stopping: AbortSignal
  now(): number
}
