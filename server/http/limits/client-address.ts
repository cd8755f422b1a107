import { createHash, timingSafeEqual } from 'node:crypto'
import { forwardedClient, ingressProofHeader } from '../../../shared/forwarded-client.ts'

export type AddressReader = (peer: string | undefined, headers: Headers) => string

const UNKNOWN = 'unknown'

/** Our own ingress is trusted by its proof and not by its address, from which every local app can come as well. */
export function createAddressReader(isTrustedProxy: (address: string) => boolean, ingressProof?: string): AddressReader {
  const isProof = ingressProof === undefined ? () => false : createProofCheck(ingressProof)
  return (peer, headers) => {
    if (peer === undefined) return UNKNOWN
    const forwarded = headers.get('x-forwarded-for')
    if (forwarded === null || !isProof(headers.get(ingressProofHeader))) return forwardedClient(peer, forwarded, isTrustedProxy)
    // The ingress has put the address of its own peer last.
    const last = forwarded.lastIndexOf(',')
    return forwardedClient(forwarded.slice(last + 1).trim(), last < 0 ? null : forwarded.slice(0, last), isTrustedProxy)
  }
}

/** A client may send the header too: the ingress puts its own behind those. Compares in constant time. */
function createProofCheck(proof: string): (header: string | null) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const wanted = digest(proof)
  return (header) => header !== null && timingSafeEqual(digest(header.slice(header.lastIndexOf(',') + 1).trim()), wanted)
}
