import { lookup } from 'node:dns/promises'
import { parseIp } from '../../../shared/ip-address.ts'
import { unlessAborted } from '../work/unless-aborted.ts'
import { OutgoingProblem } from './problem.ts'
import { isReachable, type OutgoingPolicy } from './rules.ts'

export type Lookup = (host: string) => Promise<string[]>

export const systemLookup: Lookup = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/** Addresses that may be connected to, IPv4 first, as IPv6 may lead nowhere. @throws OutgoingProblem `unreachable` or `refused`. */
export async function resolveReachable(
  host: string,
  policy: OutgoingPolicy,
  how: { lookup: Lookup; signal: AbortSignal },
): Promise<string[]> {
  const addresses = parseIp(host) === undefined ? await addressesOf(host, how) : [host]
  const reachable = addresses.filter((address) => isReachable(address, host, policy))
  if (reachable.length === 0) {
    throw new OutgoingProblem('refused', `${host} leads into a private network. An operator can open it with CP_OUTGOING_ALLOW.`)
  }
  return reachable.sort((left, right) => Number(left.includes(':')) - Number(right.includes(':')))
}

async function addressesOf(host: string, { lookup: resolve, signal }: { lookup: Lookup; signal: AbortSignal }): Promise<string[]> {
  try {
    const addresses = await unlessAborted(resolve(host), signal)
    if (addresses.length > 0) return addresses
  } catch (cause) {
    signal.throwIfAborted()
    throw new OutgoingProblem('unreachable', `The name ${host} could not be resolved.`, { cause })
  }
  throw new OutgoingProblem('unreachable', `The name ${host} has no address.`)
}
