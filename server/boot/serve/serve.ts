import { createApp } from '../../api/app/app.ts'
import { keyValueHostOf } from '../../apps/datastores/addresses.ts'
import { startDiskGuard } from '../../apps/space/guard.ts'
import type { Guarantee } from '../../engines/port/port.ts'
import type { FirstStart } from '../../identity/users/seed.ts'
import { ensureIngress, type IngressStart, watchIngress } from '../../ingress/process/supervise.ts'
import { type Address, formatAddress } from '../../platform/network/address.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AdoptRequest, DescribedSet, ListedStray } from '../serve-socket/operations.ts'
import { backUpControl } from '../upgrade/backup.ts'
import { concludeUpgrade } from '../upgrade/repair.ts'
import { adoptDescribed, listDescribed } from './adoption.ts'
import { type ComposeOptions, compose } from './compose.ts'
import type { Context } from './context.ts'
import { startHousekeeping } from './housekeeping.ts'
import { recover } from './recover.ts'
import { endStraysFor, listStrays } from './strays.ts'
import { sweepFolders } from './sweep-folders.ts'

export interface ServeOptions extends ComposeOptions {
  selfCommand: readonly string[]
}

export interface RunningServer {
  address: Address
  publicUrl: string
  firstStart: FirstStart | undefined
  missingGuarantees: Guarantee[]
  backUp(folder: string): void
  strays(): ListedStray[]
  endStrays(ids: readonly string[]): Promise<ListedStray[]>
  describedBackups(key: string): Promise<DescribedSet[]>
  adoptBackups(request: AdoptRequest): Promise<DescribedSet[]>
  close(): Promise<void>
}

/** After the first reconciliation much of the memory is garbage, which would otherwise stay while nothing happens. */
const START_OVER_MS = 2000

export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { context, work, firstStart, close } = await compose(options)
  const app = createApp(context)
  const closeAll = async () => {
    await app.stop()
    await close()
  }
  try {
    const address = app.listen(context.config.CP_LISTEN)
    const ingressStart = ingressStartOf(context, options.selfCommand)
    const onRestarted = () => {
      republish(context)
      work.republishCertificates()
    }
    await ensureIngress(ingressStart)
    watchIngress({ ...ingressStart, signal: context.stopping, onRestarted })
    await recover(context, work.keeper)
    republish(context)
    work.start()
    startHousekeeping(context)
    startDiskGuard(context)
    sweepInBackground(context)
    setTimeout(() => Bun.gc(true), START_OVER_MS).unref()
    const missingGuarantees = (await context.engine.guarantees()).filter(({ holds }) => !holds)
    const upgraded = options.isOnTrial ? undefined : concludeUpgrade(context.paths, context.log)
    if (upgraded !== undefined) context.audit.report({ event: 'server.upgraded', metadata: { ...upgraded } })
    const backUp = (folder: string) => backUpControl(context.db, folder)
    const strays = { strays: () => listStrays(context), endStrays: (ids: readonly string[]) => endStraysFor(context, ids) }
    const backups = {
      describedBackups: (key: string) => listDescribed(context, key),
      adoptBackups: (request: AdoptRequest) => adoptDescribed(context, request),
    }
    return { address, publicUrl: context.publicUrl, firstStart, missingGuarantees, backUp, ...strays, ...backups, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** The ingress serves what it last knew until it is told; a restored database may say otherwise. */
function republish(context: Context): void {
  context.routes.republish().catch((error) => {
    if (!context.stopping.aborted) context.log.error('routes not published', describeError(error))
  })
}

function sweepInBackground(context: Context): void {
  sweepFolders(context).catch((error) => {
    if (!context.stopping.aborted) context.log.error('folders not swept', describeError(error))
  })
}

function ingressStartOf({ config, paths, version, log }: Context, selfCommand: readonly string[]): IngressStart {
  const { CP_INGRESS_HTTP: listen, CP_INGRESS_HTTPS: listenTls } = config
  const addresses = ['--listen', formatAddress(listen), ...(listenTls === undefined ? [] : ['--listen-tls', formatAddress(listenTls)])]
  const { CP_INGRESS_POSTGRES: postgres, CP_INGRESS_KEY_VALUE: keyValue } = config
  const databases = [
    ...(postgres === undefined ? [] : ['--listen-postgres', formatAddress(postgres)]),
    ...(keyValue === undefined ? [] : ['--listen-key-value', formatAddress(keyValue), '--key-value-host', keyValueHostOf({ config })]),
  ]
  const limits = ['--connections-per-address', String(config.CP_INGRESS_CONNECTIONS_PER_ADDRESS)]
  const trusted = config.CP_TRUSTED_PROXIES.flatMap((cidr) => ['--trust', cidr])
  const tables = ['--routes', paths.routesFile, '--certificates', paths.certificatesFile, '--master-key', paths.masterKey]
  const files = ['--socket', paths.ingressSocket, ...tables]
  const accessLog = config.CP_ACCESS_LOG === 'on' ? ['--access-log', paths.accessLogs] : []
  return {
    command: [...selfCommand, 'ingress', ...addresses, ...databases, ...files, ...limits, ...accessLog, ...trusted],
    controlSocketPath: paths.ingressSocket,
    outputPath: paths.ingressOutput,
    listen,
    ...(listenTls !== undefined && { listenTls }),
    version,
    log: (message) => log.info('ingress', { message }),
  }
}
