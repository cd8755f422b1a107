import { parseIp } from './ip-address.ts'

/** Name of the header by which the ingress proves to the control plane that a request came through it. */
export const ingressProofHeader = 'X-Cpd-Ingress'

/**
 * Whose request it is, of which a peer says on whose behalf it sends it: X-Forwarded-For is read from the right for as long as the hop
 * is a trusted proxy, and the first that is not is the client. Without a trusted proxy the header counts for nothing.
 */
export function forwardedClient(peer: string, forwardedFor: string | null | undefined, isTrusted: (address: string) => boolean): string {
  let client = plainIp(peer)
  const hops = forwardedFor?.split(',') ?? []
  while (isTrusted(client)) {
    const hop = plainIp(hops.pop()?.trim() ?? '')
    if (parseIp(hop) === undefined) break
    client = hop
  }
  return client
}

/** IPv4 addresses come as `::ffff:a.b.c.d` from a dual-stack socket, link-local ones with the name of their interface. */
const plainIp = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
