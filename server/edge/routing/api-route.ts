import { canonicalHostName } from '../../../shared/domain.ts'
import type { Route } from '../../ingress/tables/route-table.ts'
import type { EdgeContext } from '../context.ts'

const API = 'control-plane'

/** What reaches the API at an address that it listens at. */
const reachedAt: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/**
 * The route by which people reach the API over https: at the host of the public URL. It stands before a service of that name, which could
 * pass for the platform otherwise.
 * None for an address, and none while the API listens at a port that is known only to itself.
 */
export function apiRouteOf({
  config,
  publicUrl,
  ingressProof,
}: Pick<EdgeContext, 'config' | 'publicUrl' | 'ingressProof'>): [string, Route][] {
  const { protocol, hostname } = new URL(publicUrl)
  const { host, port } = config.CP_LISTEN
  if (protocol !== 'https:' || canonicalHostName(hostname) === undefined || port === 0) return []
  const target = { instanceId: API, host: reachedAt[host] ?? host, port }
  return [[hostname, { kind: 'proxy', serviceId: API, name: 'The control plane', targets: [target], proof: ingressProof }]]
}
