import type { Database } from 'bun:sqlite'
import { createBackupWork } from '../../apps/backups/work/work.ts'
import { createDatastoreWork } from '../../apps/datastores/work.ts'
import { unfinishedDeploys } from '../../apps/deploys/store.ts'
import { createDiskWork } from '../../apps/disks/lifecycle/work.ts'
import { onEvents } from '../../apps/events/wake.ts'
import { createPushWork } from '../../apps/git-push/pushes/conclude.ts'
import { reconcileService } from '../../apps/instances/reconcile.ts'
import { watchHeld } from '../../apps/instances/wake-watch.ts'
import { createJobWork } from '../../apps/jobs/work.ts'
import { createNotificationWork, type NotificationWork } from '../../apps/notifications/work.ts'
import { createDeployQueue } from '../../apps/pipeline/queue.ts'
import { createSpareWork } from '../../apps/postgres/spare/work.ts'
import { createUpgradeWork } from '../../apps/postgres/upgrade/work.ts'
import { createPreviewWork, type PreviewWork } from '../../apps/previews/work.ts'
import { createWays } from '../../apps/replication/ways.ts'
import { createLookWork } from '../../apps/repositories/looks/work.ts'
import { servicesToWatch } from '../../apps/services/store.ts'
import { createSourceHostWork, type SourceHostWork } from '../../apps/source-hosts/work/work.ts'
import { createTransferWork } from '../../apps/transfers/work/work.ts'
import { createWebhookWork } from '../../apps/webhooks/dispatch/work.ts'
import type { AcmeSettings } from '../../edge/certificates/acme/settings.ts'
import { createCertificates } from '../../edge/certificates/reconcile.ts'
import { domainsToCheck } from '../../edge/domains/store.ts'
import { createDomainWatch } from '../../edge/domains/watch.ts'
import { createWorkspaceWork } from '../../identity/workspaces/work.ts'
import { afterChange } from '../../platform/db/change.ts'
import { describeError } from '../../platform/server-log.ts'
import { every } from '../../platform/work/clock.ts'
import { createDriver, type Driver } from '../../platform/work/driver.ts'
import { createLeases } from '../../platform/work/leases.ts'
import { pokeBy } from '../../platform/work/poke.ts'
import { createAwaitedWorkloads } from '../../runtime/workloads/awaited.ts'
import type { Keeper } from '../../runtime/workloads/keeper.ts'
import type { Context, Work } from './context.ts'
import { datastoreServers } from './datastore-servers.ts'
import { keepWorkloads, pokeOwner } from './workloads.ts'
import { workspaceContents } from './workspace-contents.ts'

const PERIOD_MS = 60_000

export interface RunningWork extends Work {
  /** Reconciles everything once, and from then on when poked, when something falls due, and once a minute. */
  start(): void
  republishCertificates(): void
  readonly keeper: Keeper
  /** Returns when nothing is under way any more, after `context.stopping` has aborted. */
  settled(): Promise<void>
}

/** Reconcilers and queue of deploys, tied together; nothing runs before the start. Everything else is given the work in `base` where there is one. */
export function createWork(
  base: Omit<Context, 'work' | 'sets'> & Partial<Pick<Context, 'work' | 'sets'>>,
  acme: AcmeSettings | undefined,
): { context: Context; work: RunningWork } {
  const { open, onceOpen: onceStarted } = createGate(base.db)
  const keeper = keepWorkloads(base, () => context)
  const pushes = createPushWork(() => context)
  const work: RunningWork = {
    poke: pokeBy({
      service: onceStarted((serviceId: string) => pokeAllOf([driver, jobs, sourceHosts.ofServices, previews], serviceId)),
      jobs: onceStarted((serviceId: string) => jobs.poke(serviceId)),
      disk: onceStarted((diskId: string) => disks.poke(diskId)),
      datastore: onceStarted((datastoreId: string) => pokeAllOf(databases, datastoreId)),
      domain: onceStarted((domainId: string) => domains.poke(domainId)),
      deploys: onceStarted(() => pokeEach([queue, sourceHosts.ofDeploys])),
      workspace: onceStarted((workspaceId: string) => workspaces.poke(workspaceId)),
      certificates: onceStarted(() => certificates.poke()),
      sourceHost: onceStarted((installationId: string) => sourceHosts.poke(installationId)),
      previews: onceStarted((serviceId: string) => previews.poke(serviceId)),
      webhooks: onceStarted((workspaceId: string) => webhooks.poke(workspaceId)),
    }),
    republishCertificates: () => certificates.republish(),
    keeper,
    ...{ ways: createWays(base), pushes },
    takenDisks: createLeases(),
    awaited: createAwaitedWorkloads({ ...base, sets: keeper }),
    interruptDeploy: (deployId, because) => afterChange(base.db, () => queue.interrupt(deployId, because)),
    deployEnded: (deployId) => afterChange(base.db, () => queue.deployEnded(deployId)),
    cancelTransfer: (id) => afterChange(base.db, () => transfers.cancel(id)),
    transferProgress: (id) => transfers.progress(id),
    keepLastBackup: (datastoreId) => backups.keepLast(datastoreId),
    isBackingUp: (datastoreId) => backups.isTaking(datastoreId),
    untilLogReceived: (datastoreId) => backups.untilLogReceived(datastoreId),
    whenDeploysSettled: (serviceId) => queue.whenSettled(serviceId),
    start() {
      open()
      const stopListening = listen(context, { keeper, notifications, sourceHosts, previews })
      publishRoutes(context)
      pokeAll()
      watchHeld(context)
      disks.pokeAll()
      queue.poke()
      pushes.start()
      certificates.poke()
      for (const domainId of domainsToCheck(context.db, context.now())) domains.poke(domainId)
      stopWith(context, [...stopListening, every(context, PERIOD_MS, pokeAll)])
    },
    settled: () => settledAll([queue, pushes, certificates, domains, disks, ...minutely]),
  }
  const context: Context = { work, sets: keeper, ...base }
  const queue = createDeployQueue(context, context.stopping)
  const certificates = createCertificates(context, { acme })
  const domains = createDomainWatch(context)
  const disks = createDiskWork(context)
  const backups = createBackupWork(context)
  const transfers = createTransferWork(context)
  const databases = [...databaseWork(context), backups, transfers]
  const jobs = createJobWork(context)
  const webhooks = createWebhookWork(context)
  const { sourceHosts, previews, ofHosts } = hostWork(context)
  const notifications = createNotificationWork(context)
  const driver = createServiceDriver(context)
  const workspaces = createWorkspaceWork(context, workspaceContents(context))
  const services = { pokeAll: () => pokeServices(context, driver), settled: driver.settled }
  const minutely = [keeper, services, jobs, workspaces, webhooks, ...ofHosts, notifications, ...databases]
  const pokeAll = (): void => reconcileAll(minutely)

  return { context, work }
}

function pokeServices({ db }: Context, driver: Driver): void {
  for (const serviceId of servicesToWatch(db)) driver.poke(serviceId)
  for (const { serviceId } of unfinishedDeploys(db)) driver.poke(serviceId)
}

function hostWork(context: Context) {
  const [sourceHosts, previews] = [createSourceHostWork(context), createPreviewWork(context)]
  return { sourceHosts, previews, ofHosts: [sourceHosts, createLookWork(context), previews] }
}

const databaseWork = (context: Context) => [
  createDatastoreWork(context, datastoreServers(context)),
  createSpareWork(context),
  createUpgradeWork(context),
]

const pokeAllOf = (parts: readonly Pick<Driver, 'poke'>[], id: string): void => {
  for (const part of parts) part.poke(id)
}

const pokeEach = (parts: readonly { poke(): void }[]): void => {
  for (const part of parts) part.poke()
}

const reconcileAll = (parts: readonly { pokeAll(): void }[]): void => {
  for (const part of parts) part.pokeAll()
}

const settledAll = async (parts: readonly { settled(): Promise<void> }[]): Promise<void> =>
  void (await Promise.all(parts.map((part) => part.settled())))

function stopWith({ stopping }: Context, stops: readonly (() => void)[]): void {
  stopping.addEventListener('abort', () => {
    for (const stop of stops) stop()
  })
}

const createServiceDriver = (context: Context): Driver =>
  createDriver({
    run: (serviceId) => reconcileService(context, serviceId),
    onError: (serviceId, error) => context.log.error('reconcile failed', { serviceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })

interface Listeners {
  keeper: Keeper
  notifications: NotificationWork
  sourceHosts: SourceHostWork
  previews: PreviewWork
}

/** Has what happens reach who works on it. Returns what ends that. */
function listen({ db, engine, work }: Context, { keeper, notifications, sourceHosts, previews }: Listeners): (() => void)[] {
  return [
    onEvents(db, (workspaceId) => work.poke('webhooks', workspaceId)),
    onEvents(db, notifications.poke),
    onEvents(db, sourceHosts.ofEvents.poke),
    onEvents(db, previews.ofWorkspace),
    engine.onExit(keeper.poke),
    keeper.onChange((owner) => pokeOwner(work, owner)),
  ]
}

/** The API may ask for work before the start has recovered what an earlier control plane left. */
function createGate(db: Database) {
  let isOpen = false
  return {
    open: () => {
      isOpen = true
    },
    onceOpen:
      <Given extends unknown[]>(act: (...given: Given) => void) =>
      (...given: Given): void =>
        afterChange(db, () => {
          if (isOpen) act(...given)
        }),
  }
}

/** Static sites and suspended services have no reconciler that would publish them. */
function publishRoutes({ routes, stopping, log }: Context): void {
  routes.publish().catch((error) => {
    if (!stopping.aborted) log.error('routes not published', describeError(error))
  })
}
