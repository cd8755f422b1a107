import { traitsOf } from '../../../shared/service-type.ts'
import { isEverywhere } from '../../apps/services/controls.ts'
import type { RoutePolicy } from '../../ingress/tables/route-table.ts'
import type { RoutedService } from './table.ts'

/** Returns undefined for most services, so that their routes stay small. The rules of a static site stand in its route. */
export function policyOf({ type, controls, release }: Pick<RoutedService, 'type' | 'controls' | 'release'>): RoutePolicy | undefined {
  const { maintenanceMode, ipAllowList } = controls
  const { headers = [], routes = [] } = traitsOf(type).isProxied ? (release?.settings ?? {}) : {}
  const policy: RoutePolicy = {
    ...(isEverywhere(ipAllowList) ? {} : { allow: ipAllowList.map(({ cidrBlock }) => cidrBlock) }),
    ...(maintenanceMode.enabled ? { maintenance: maintenanceMode.uri === '' ? {} : { uri: maintenanceMode.uri } } : {}),
    ...(routes.length > 0 ? { rules: routes } : {}),
    ...(headers.length > 0 ? { headers } : {}),
  }
  return Object.keys(policy).length === 0 ? undefined : policy
}
