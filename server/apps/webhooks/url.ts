import { invalidValue } from '../../../shared/error.ts'
import { parseIp, parseIpRange } from '../../../shared/ip-address.ts'
import { isLoopbackHost } from '../../platform/network/address.ts'
import { hostOf, isReachable, isSafeUrl, type OutgoingPolicy } from '../../platform/outgoing/rules.ts'

/** Nobody but the operator opens private networks: a webhook's own host is none that a setting names. */
export const policyOf = ({ CP_OUTGOING_ALLOW }: { CP_OUTGOING_ALLOW: readonly string[] }): OutgoingPolicy => ({
  namedHosts: new Set(),
  allowedRanges: CP_OUTGOING_ALLOW.flatMap((cidr) => parseIpRange(cidr) ?? []),
})

/**
 * A URL that events may be sent to, in its usual spelling. What a name leads to is looked up at each attempt, and only there: an answer
 * here would tell nothing of the next one. @throws AppError validation_failed.
 */
export function requireUrl(text: string, policy: OutgoingPolicy, at = '/url'): string {
  const refused = (problem: string) => invalidValue(at, `The URL ${problem}.`)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw refused('is no URL, such as https://example.com/hooks')
  if (url.username !== '' || url.password !== '') throw refused('holds a user name or password, which would be seen by who lists webhooks')
  if (url.hash !== '') throw refused('has a fragment, which no server gets to see')
  if (!isSafeUrl(url)) throw refused('is not https: what is sent would be readable on its way')
  const host = hostOf(url)
  const address = parseIp(host) === undefined ? (isLoopbackHost(host) ? '127.0.0.1' : undefined) : host
  if (address !== undefined && !isReachable(address, host, policy))
    throw refused('leads into a private network. An operator can open it with CP_OUTGOING_ALLOW')
  return url.href
}
