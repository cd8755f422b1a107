import type { Database } from 'bun:sqlite'
import type { Service } from '../../../../shared/service.ts'
import { hasDetail, type ServiceDetails } from '../../../../shared/service-details.ts'
import { traitsOf } from '../../../../shared/service-type.ts'
import { memo } from '../../../platform/memo.ts'
import { formatAddress } from '../../../platform/network/address.ts'
import type { AppContext } from '../../context.ts'
import { findCronJob } from '../../cron-jobs/store.ts'
import { latestDeployStatus } from '../../deploys/store.ts'
import { presentServiceDisk } from '../../disks/present.ts'
import { diskOfService } from '../../disks/store.ts'
import { INTERNAL_PORT } from '../../private-network/internal-port.ts'
import { repositoryStateOf } from '../../repositories/present.ts'
import { internalHostOf, urlOf } from '../addresses.ts'
import { presentLabels } from '../labels.ts'
import type { ServiceSettings } from '../settings.ts'
import { type StoredService, serviceById } from '../store.ts'

const REMEMBERED_TIMES = 4000

/** Writing the two times of a service was as dear as finding its key. */
const isoTime = memo((ms: number) => new Date(ms).toISOString(), REMEMBERED_TIMES)

export function presentService(
  context: Pick<AppContext, 'config' | 'db' | 'publicUrl' | 'hasCertificate' | 'engine'>,
  service: StoredService,
): Service {
  const isSuspended = service.suspendedAt !== null
  const repositoryState = repositoryStateOf(context.db, service)
  return {
    id: service.id,
    name: service.name,
    ownerId: service.workspaceId,
    ...(service.environmentId !== null && { environmentId: service.environmentId }),
    type: service.type,
    slug: service.slug,
    createdAt: isoTime(service.createdAt),
    updatedAt: isoTime(service.updatedAt),
    dashboardUrl: `${context.publicUrl}/docs#/Services`,
    suspended: isSuspended ? 'suspended' : 'not_suspended',
    suspenders: isSuspended ? ['user'] : [],
    ...presentLabels(service.labels),
    ...(repositoryState && { repositoryState }),
    notifyOnFail: 'default',
    rootDir: service.settings.rootDir,
    serviceDetails: detailsOf(context, service),
    ...(service.liveDeployId === null ? { latestDeployStatus: latestDeployStatus(context.db, service.id) ?? 'none' } : {}),
  }
}

function detailsOf(context: Pick<AppContext, 'config' | 'db' | 'hasCertificate' | 'engine'>, service: StoredService): ServiceDetails {
  const { settings, type } = service
  const { runsProgram, hasInstances } = traitsOf(type)
  if (!runsProgram) {
    const { buildCommand, publishPath, buildPlan, headers, routes } = settings
    const { ipAllowList, maintenanceMode } = service.controls
    const reached = { ...previewFacts(context, service), url: urlOf(context, service.slug) }
    return { buildCommand, publishPath, buildPlan, headers, routes, ipAllowList, maintenanceMode, ...reached }
  }
  return {
    ...runtimeOf(service),
    envSpecificDetails: nativeDetails(settings),
    plan: settings.plan,
    buildPlan: settings.buildPlan,
    region: service.labels.region,
    ...(hasInstances && { numInstances: service.numInstances, ...diskOf(context, service) }),
    maxShutdownDelaySeconds: settings.maxShutdownDelaySeconds,
    ...(settings.allowUserNamespaces && { allowUserNamespaces: true }),
    ...previewFacts(context, service),
    ...reachedBy(context, service),
  }
}

function previewFacts(
  { db }: Pick<AppContext, 'db'>,
  { type, labels, previewOf }: StoredService,
): Pick<ServiceDetails, 'previews' | 'parentServer'> {
  const parent = previewOf === null ? undefined : serviceById(db, previewOf)
  return {
    ...(hasDetail(type, 'previews') && { previews: labels.previews }),
    ...(parent !== undefined && { parentServer: { id: parent.id, name: parent.name } }),
  }
}

function diskOf({ db }: Pick<AppContext, 'db'>, { id }: StoredService): Pick<ServiceDetails, 'disk' | 'deployStrategy'> {
  const disk = diskOfService(db, id)
  if (disk === undefined || disk.status === 'deleting') return { deployStrategy: 'rolling' }
  return { disk: presentServiceDisk(disk), deployStrategy: 'stop_first' }
}

/** Clients refuse to change a service whose runtime is missing or unknown to Render, so one of Render's is shown unless ours was chosen. */
function runtimeOf({ settings, detectedRuntime }: StoredService): Pick<ServiceDetails, 'runtime' | 'env'> {
  const runtime = settings.runtime ?? (detectedRuntime === 'bun' ? null : detectedRuntime) ?? 'node'
  return { runtime, env: runtime }
}

function nativeDetails({
  buildCommand,
  startCommand,
  preDeployCommand,
}: ServiceSettings): NonNullable<ServiceDetails['envSpecificDetails']> {
  return { buildCommand, startCommand, ...(preDeployCommand === '' ? {} : { preDeployCommand }) }
}

function reachedBy(
  context: Pick<AppContext, 'config' | 'db' | 'hasCertificate' | 'engine'>,
  service: StoredService,
): Partial<ServiceDetails> {
  const { cron, ...controls } = service.controls
  const { isProxied, choosesPort, isScheduled } = traitsOf(service.type)
  if (isProxied)
    return { ...edgeOf(service), ...controls, ...asleepOf(service), openPorts: openPortsOf(service), url: urlOf(context, service.slug) }
  if (choosesPort) return privateReachOf(context, service)
  return isScheduled ? { ...cron, ...timesOf(context, service) } : {}
}

const asleepOf = ({ asleep }: StoredService): Pick<ServiceDetails, 'asleepAt'> => (asleep === null ? {} : { asleepAt: isoTime(asleep.at) })

function timesOf({ db }: Pick<AppContext, 'db'>, { id }: StoredService): Pick<ServiceDetails, 'lastSuccessfulRunAt' | 'nextRunAt'> {
  const { lastSucceededAt = null, nextDueAt = null } = findCronJob(db, id) ?? {}
  return {
    ...(lastSucceededAt === null ? {} : { lastSuccessfulRunAt: isoTime(lastSucceededAt) }),
    ...(nextDueAt === null ? {} : { nextRunAt: isoTime(nextDueAt) }),
  }
}

function privateReachOf({ db, engine }: Pick<AppContext, 'db' | 'engine'>, service: StoredService): Partial<ServiceDetails> {
  // What is led on by the ingress is reached at one port, wherever its instances are.
  const port = engine.siblingHost === undefined ? livePortOf(db, service) : INTERNAL_PORT
  return { openPorts: openPortsOf(service, port), url: formatAddress({ host: internalHostOf(service), port }) }
}

function livePortOf(db: Database, { id, liveDeployId, liveGeneration }: StoredService): number {
  const live = db
    .query<{ port: number }, [string, string | null, number]>(
      `SELECT port FROM instances WHERE service_id = ? AND deploy_id = ? AND generation = ? AND phase IN ('ready', 'serving') LIMIT 1`,
    )
    .get(id, liveDeployId, liveGeneration)
  return live?.port ?? INTERNAL_PORT
}

const openPortsOf = ({ liveDeployId, suspendedAt }: StoredService, port = INTERNAL_PORT): NonNullable<ServiceDetails['openPorts']> =>
  liveDeployId === null || suspendedAt !== null ? [] : [{ port, protocol: 'TCP' }]

const edgeOf = ({ settings: { healthCheckPath, headers, routes } }: StoredService): Partial<ServiceDetails> => ({
  healthCheckPath,
  headers,
  routes,
})
