import { parseIp } from './ip-address.ts'

/** Name of the header by which the ingress proves to the control plane that a request came through it. */
export const ingressProofHeader = 'X-Cpd-Ingress'

/** No chain of proxies is longer. Each hop costs a look at the trusted ranges, and a head has room for thousands. */
const MAX_HOPS = 32

/**
 * Whose request it is, of which a peer says on whose behalf it sends it: X-Forwarded-For is read from the right for as long as the hop
 * is a trusted proxy, and the first that is not is the client. Without a trusted proxy the header counts for nothing.
 */
export function forwardedClient(peer: string, forwardedFor: string | null | undefined, isTrusted: (address: string) => boolean): string {
  let client = plainIp(peer)
  let rest = forwardedFor ?? ''
  for (let hops = 0; hops < MAX_HOPS && isTrusted(client); hops++) {
    const comma = rest.lastIndexOf(',')
    const hop = plainIp(rest.slice(comma + 1).trim())
    if (parseIp(hop) === undefined) break
    client = hop
    rest = rest.slice(0, Math.max(comma, 0))
  }
  return client
}

/** IPv4 addresses come as `::ffff:a.b.c.d` from a dual-stack socket, link-local ones with the name of their interface. */
const plainIp = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
