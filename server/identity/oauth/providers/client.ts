import { allowInsecureRequests, type Configuration, type CustomFetch, calculatePKCECodeChallenge, clockTolerance } from 'openid-client'
import type { IpRange } from '../../../../shared/ip-address.ts'
import { hostOf } from '../../../platform/outgoing/rules.ts'
import { sendOutgoing } from '../../../platform/outgoing/send.ts'
import type { ProviderAnswer, Secrets } from './provider.ts'

/** By how much the clocks of a provider and of this machine may differ. */
const CLOCK_TOLERANCE_SECONDS = 60

export const clientMetadata = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS }

/** What every provider is spoken to with. */
export interface ClientDeps {
  /** Private ranges that are open to everything. */
  allowedRanges: readonly IpRange[]
  stopping: AbortSignal
  now(): number
}

/** The library's way out: to the hosts of these settings, wherever they are, and to public ones that their metadata names. */
export function guardedFetch(named: readonly string[], { allowedRanges, stopping }: ClientDeps): CustomFetch {
  const policy = { namedHosts: new Set(named.map((url) => hostOf(new URL(url)))), allowedRanges }
  return (url, { method, headers, body, signal }) => {
    // The library sends text and forms only.
    const request = { url: new URL(url), method, headers: new Headers(headers), body: body as string | URLSearchParams | undefined }
    return sendOutgoing(request, { ...policy, signal: signal === undefined ? stopping : AbortSignal.any([stopping, signal]) })
  }
}

/** The library takes https only unless told: settings hold http for this machine alone, and the way out refuses every other. */
export const loopbackAllowance = (url: string): ((config: Configuration) => void)[] =>
  url.startsWith('http:') ? [allowInsecureRequests] : []

/** The parameters of PKCE by which a provider recognises whoever began. */
export const challengeOf = async ({ verifier }: Secrets): Promise<Record<string, string>> => ({
  code_challenge: await calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})

/** The address that the provider is to have answered to, with its answer: of what came along, only what is checked. */
export function answeredUrl(redirectUri: string, { code, iss }: ProviderAnswer, state: string): URL {
  const url = new URL(redirectUri)
  url.search = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) }).toString()
  return url
}
