import type { IngressClient } from '../../server/ingress/control/client.ts'
import type { ProxyTarget } from '../../server/ingress/tables/proxy-target.ts'
import type { Route, RouteTable } from '../../server/ingress/tables/route-table.ts'
import { createLeases, type Leases } from '../../server/platform/work/leases.ts'
import { AppError } from '../../shared/error.ts'
import { idleIngress } from './idle-parts.ts'

/** An ingress that serves nobody and says what it was told. It outlives control planes. */
export interface RecordingIngress {
  readonly client: IngressClient
  /** While set, it answers nothing but that it is away. */
  isAway: boolean
  /** Instances that are taken to have a request under way. */
  readonly busy: Set<string>
  /** Requests under way, by the instances that they were led to. */
  readonly underWay: Leases
  readonly table: RouteTable
  /** Where requests for a service go; undefined where the ingress does not know it. */
  routeOf(serviceId: string): Route | undefined
  targetsOf(serviceId: string): readonly ProxyTarget[]
  /** Calls with each table that it takes, and the one that it had. */
  onPublish(listener: (table: RouteTable, before: RouteTable) => void): void
}

export function recordIngress(): RecordingIngress {
  const busy = new Set<string>()
  const underWay = createLeases()
  const listeners: ((table: RouteTable, before: RouteTable) => void)[] = []
  let table: RouteTable = { version: 0, hosts: {} }
  const present = () => {
    if (ingress.isAway) throw new AppError('unavailable', 'The ingress is away')
  }
  const client: IngressClient = {
    ...idleIngress,
    async publish(next) {
      present()
      const before = table
      table = next
      for (const listener of listeners) listener(next, before)
    },
    async drainState(id) {
      present()
      return { inFlight: underWay.countOf(id) + (busy.has(id) ? 1 : 0), tunnels: 0 }
    },
    async closeTunnels() {
      present()
    },
    async abortRequests(id) {
      present()
      busy.delete(id)
    },
  }
  const ingress: RecordingIngress = {
    client,
    isAway: false,
    busy,
    underWay,
    get table() {
      return table
    },
    routeOf: (serviceId) => routeIn(table, serviceId),
    targetsOf: (serviceId) => targetsIn(table, serviceId),
    onPublish: (listener) => void listeners.push(listener),
  }
  return ingress
}

export const routeIn = ({ hosts }: RouteTable, serviceId: string): Route | undefined =>
  Object.values(hosts).find((route) => route.serviceId === serviceId)

export function targetsIn(table: RouteTable, serviceId: string): readonly ProxyTarget[] {
  const route = routeIn(table, serviceId)
  return route?.kind === 'proxy' ? route.targets : []
}
