import { canonicalHostName } from '../../../shared/domain.ts'
import type { Route } from '../../ingress/tables/route-table.ts'
import type { EdgeContext } from '../context.ts'

const API = 'control-plane'

const reachedAt: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Returns the public URL's host with its route to the API, which keeps a service of that name from passing for the platform. */
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
