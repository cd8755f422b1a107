import type { Database } from 'bun:sqlite'
import type { ServiceControls } from '../../../shared/service-controls.ts'
import { type ServiceType, traitsOf, typesWith } from '../../../shared/service-type.ts'
import { hostOf } from '../../apps/services/addresses.ts'
import { controlsColumn, settingsColumn } from '../../apps/services/columns.ts'
import type { ServiceSettings } from '../../apps/services/settings.ts'
import type { StoredInstance } from '../../apps/workloads/instance-store.ts'
import type { ProxyTarget } from '../../ingress/tables/proxy-target.ts'
import type { Route, RouteTable } from '../../ingress/tables/route-table.ts'
import { sqlList } from '../../platform/db/sql-list.ts'
import { exitsColumn } from '../../runtime/workloads/store.ts'
import type { EdgeContext } from '../context.ts'
import { verifiedDomains } from '../domains/store.ts'
import { apiRouteOf } from './api-route.ts'
import { policyOf } from './policy.ts'

export interface RoutedService {
  id: string
  name: string
  slug: string
  type: ServiceType
  isSuspended: boolean
  isAsleep: boolean
  /** A service that was ever woken turns nobody away while it starts. */
  hasWoken: boolean
  controls: ServiceControls
  release: { id: string; folder: string; settings: ServiceSettings } | undefined
  /** Instances of the live set that are neither draining nor frozen. */
  instances: Pick<StoredInstance, 'id' | 'address' | 'port' | 'phase' | 'exits'>[]
}

export function routeOf(service: RoutedService): Route {
  const policy = policyOf(service)
  const named = { serviceId: service.id, name: service.name, ...(policy && { policy }) }
  if (service.isSuspended) return { kind: 'suspended', ...named }
  if (service.release === undefined) return { kind: 'unavailable', ...named, isUndeployed: true }
  if (!traitsOf(service.type).isProxied) {
    const { settings, id, folder: root } = service.release
    return { kind: 'static', ...named, releaseId: id, root, headers: settings.headers, rules: settings.routes }
  }
  if (service.isAsleep) return { kind: 'asleep', ...named }
  const { instances } = service
  // Ready instances are routed first and said to serve after that, so that whoever reads it can rely on it.
  const targets = instances.filter(({ phase }) => phase === 'serving' || phase === 'ready').flatMap(targetsOf)
  // Where all have died the route leads nowhere, which is a 502 that names the service. Not to their ports: those are free for others now.
  const hasDied = instances.some((instance) => instance.exits.length > 0)
  if (targets.length > 0 || hasDied) return { kind: 'proxy', ...named, targets }
  return { kind: service.hasWoken ? 'asleep' : 'unavailable', ...named }
}

const targetsOf = ({ id, address, port }: RoutedService['instances'][number]): ProxyTarget[] =>
  address === null ? [] : [{ instanceId: id, host: address, port }]

export function buildRouteTable(
  context: Pick<EdgeContext, 'db' | 'config' | 'artifacts' | 'publicUrl' | 'ingressProof'>,
): RouteTable['hosts'] {
  const services = selectRouted(context.db, context).map((service) => ({ service, route: routeOf(service) }))
  const routes = new Map(services.map(({ service, route }) => [service.id, route]))
  const custom = verifiedDomains(context.db).flatMap(({ name, serviceId }): [string, Route][] => {
    const route = routes.get(serviceId)
    return route === undefined ? [] : [[name, route]]
  })
  const own = services.map(({ service, route }): [string, Route] => [hostOf(context, service.slug), route])
  // Names of the platform's own come last: nobody's domain stands before them, whatever the settings were when it was added.
  return Object.fromEntries([...custom, ...own, ...apiRouteOf(context)])
}

interface RoutedRow {
  id: string
  name: string
  slug: string
  type: RoutedService['type']
  controls: string
  suspended_at: number | null
  asleep_at: number | null
  woken_at: number | null
  release_id: string | null
  artifact: string | null
  settings: string | null
}

interface TargetRow {
  id: string
  service_id: string
  address: string | null
  port: number
  phase: StoredInstance['phase']
  exits: string
}

function selectRouted(db: Database, context: Pick<EdgeContext, 'artifacts'>): RoutedService[] {
  const instances = Map.groupBy(
    db
      .query<TargetRow, []>(
        `SELECT i.id, i.service_id, i.address, i.port, i.phase, i.exits FROM instances i JOIN services s ON s.id = i.service_id
         WHERE i.deploy_id = s.live_deploy_id AND i.generation = s.live_generation AND i.phase <> 'draining'
           AND i.frozen_at IS NULL ORDER BY i.id`,
      )
      .all(),
    (row) => row.service_id,
  )
  return db
    .query<RoutedRow, []>(
      `SELECT s.id, s.name, s.slug, s.type, s.controls, s.suspended_at, s.asleep_at, s.woken_at, r.id AS release_id, r.artifact, r.settings
       FROM services s LEFT JOIN deploys d ON d.id = s.live_deploy_id LEFT JOIN releases r ON r.id = d.release_id
       WHERE s.deleted_at IS NULL AND s.type IN (${sqlList(typesWith('isRouted'))})`,
    )
    .all()
    .map((row) => ({ ...presentRow(row, context), instances: (instances.get(row.id) ?? []).map(presentTarget) }))
}

const presentTarget = (row: TargetRow): RoutedService['instances'][number] => ({
  id: row.id,
  address: row.address,
  port: row.port,
  phase: row.phase,
  exits: exitsColumn.read(row.exits),
})

function presentRow(row: RoutedRow, context: Pick<EdgeContext, 'artifacts'>): Omit<RoutedService, 'instances'> {
  const { id, name, slug, type, release_id, artifact, settings } = row
  const release =
    release_id === null || artifact === null || settings === null
      ? undefined
      : {
          id: release_id,
          folder: context.artifacts.folder(id, artifact),
          settings: settingsColumn.read(settings),
        }
  const state = { isSuspended: row.suspended_at !== null, isAsleep: row.asleep_at !== null, hasWoken: row.woken_at !== null }
  return { id, name, slug, type, ...state, controls: controlsColumn.read(row.controls), release }
}
