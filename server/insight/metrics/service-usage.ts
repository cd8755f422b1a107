import type { Database } from 'bun:sqlite'
import type { DatastoreStatus } from '../../../shared/datastore.ts'
import type { ServiceUsage } from '../../../shared/metrics.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { statusOf } from '../../apps/datastores/status.ts'
import { OWNER_KIND, type StoredDatastore } from '../../apps/datastores/store.ts'
import type { StoredService } from '../../apps/services/store.ts'
import { instancesOf } from '../../apps/workloads/instance-store.ts'
import { isCrashLooping } from '../../runtime/workloads/backoff.ts'
import { workloadsOf } from '../../runtime/workloads/store.ts'
import { fineLevel } from '../../telemetry/metrics/levels.ts'
import type { Metrics } from '../../telemetry/metrics/metrics.ts'
import { requestsOf } from '../../telemetry/metrics/samples.ts'
import { instancesIn, type ServiceSnapshot, type Snapshot } from '../../telemetry/metrics/snapshot.ts'
import { cpuOf, latencyOf, memoryOf } from '../../telemetry/metrics/values.ts'

const MIB = 1024 * 1024
const FIFTH_CLASS = 5

export interface UsageNow {
  db: Database
  latest: Snapshot | undefined
  datastores: Metrics['datastores']
  nowMs: number
}

const states: Record<DatastoreStatus, ServiceUsage['state']> = {
  ...{ available: 'running', suspended: 'suspended', unavailable: 'crash_looping', recovery_failed: 'stopped', unknown: 'stopped' },
  ...{ creating: 'starting', config_restart: 'starting', updating_instance: 'starting', recovery_in_progress: 'starting' },
}

/** A datastore is told as a service that is not reached by HTTP. */
export function presentDatastoreUsage(datastore: StoredDatastore, { db, latest, datastores }: UsageNow): ServiceUsage {
  const { id, name, kind } = datastore
  const snapshot = latest?.services.get(id)
  return {
    ...{ serviceId: id, name, type: kind },
    state: states[statusOf(datastore, workloadsOf(db, OWNER_KIND, id))],
    measuredAt: measuredAt(latest, snapshot),
    ...used(snapshot),
    connections: datastores.get(id)?.figures.connections ?? null,
    ...notAsked,
  }
}

export function presentUsage(service: StoredService, { db, latest, nowMs }: UsageNow): ServiceUsage {
  const snapshot = latest?.services.get(service.id)
  const { id, name, type } = service
  return {
    serviceId: id,
    name,
    type,
    state: stateOf(service, db, nowMs),
    measuredAt: measuredAt(latest, snapshot),
    ...used(snapshot),
    connections: null,
    ...asked(service, snapshot),
  }
}

const measuredAt = (latest: Snapshot | undefined, snapshot: ServiceSnapshot | undefined): string | null =>
  latest === undefined || snapshot === undefined ? null : new Date(latest.atMs).toISOString()

type Used = Pick<ServiceUsage, 'instances' | 'cpu' | 'cpuLimit' | 'memoryBytes' | 'memoryLimitBytes' | 'diskBytes' | 'diskLimitBytes'>

const unused: Used = {
  ...{ instances: 0, cpu: null, cpuLimit: null, memoryBytes: null, memoryLimitBytes: null },
  ...{ diskBytes: null, diskLimitBytes: null },
}

function used(snapshot: ServiceSnapshot | undefined): Used {
  if (snapshot === undefined) return unused
  const { total, facts, instances } = snapshot
  const boxes = instances.length
  return {
    instances: instancesIn(snapshot),
    cpu: cpuOf(total) ?? null,
    cpuLimit: facts.cpuLimit === 0 || boxes === 0 ? null : (facts.cpuLimit * boxes) / 1000,
    memoryBytes: memoryOf(total) ?? null,
    memoryLimitBytes: facts.memoryLimit === 0 || boxes === 0 ? null : facts.memoryLimit * MIB * boxes,
    diskBytes: total.diskSize === 0 ? null : total.disk,
    diskLimitBytes: total.diskSize === 0 ? null : total.diskSize,
  }
}

type Asked = Pick<ServiceUsage, 'requestsPerSecond' | 'errorsPerSecond' | 'latencyP95Ms' | 'bytesInPerSecond' | 'bytesOutPerSecond'>

const notAsked: Asked = {
  ...{ requestsPerSecond: null, errorsPerSecond: null, latencyP95Ms: null },
  ...{ bytesInPerSecond: null, bytesOutPerSecond: null },
}

function asked({ type }: StoredService, snapshot: ServiceSnapshot | undefined): Asked {
  const traffic = traitsOf(type).isRouted ? snapshot?.traffic : undefined
  if (traffic === undefined) return notAsked
  return {
    requestsPerSecond: requestsOf(traffic) / fineLevel.stepSeconds,
    errorsPerSecond: (traffic.requests[FIFTH_CLASS] ?? 0) / fineLevel.stepSeconds,
    latencyP95Ms: latencyOf(traffic, 0.95) ?? null,
    bytesInPerSecond: traffic.bytesIn / fineLevel.stepSeconds,
    bytesOutPerSecond: traffic.bytesOut / fineLevel.stepSeconds,
  }
}

function stateOf(service: StoredService, db: Database, nowMs: number): ServiceUsage['state'] {
  if (service.suspendedAt !== null) return 'suspended'
  const instances = instancesOf(db, service.id)
  const exitTimes = instances.map(({ exits }) => exits.map(({ at }) => at))
  if (exitTimes.some((times) => isCrashLooping(times, nowMs))) return 'crash_looping'
  if (service.asleep !== null) return 'asleep'
  if (instances.some(({ phase }) => phase === 'serving')) return 'running'
  if (instances.some(({ phase }) => phase !== 'draining')) return 'starting'
  if (service.liveDeployId === null) return 'not_deployed'
  return traitsOf(service.type).hasInstances ? 'stopped' : 'live'
}
