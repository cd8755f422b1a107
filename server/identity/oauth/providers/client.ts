import { allowInsecureRequests, type Configuration, type CustomFetch, calculatePKCECodeChallenge, clockTolerance } from 'openid-client'
import type { IpRange } from '../../../../shared/ip-address.ts'
import { hostOf } from '../../../platform/outgoing/rules.ts'
import { sendOutgoing } from '../../../platform/outgoing/send.ts'
import type { ProviderAnswer, Secrets } from './provider.ts'

const CLOCK_TOLERANCE_SECONDS = 60

export const clientMetadata = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS }

export interface ClientDeps {
  allowedRanges: readonly IpRange[]
  stopping: AbortSignal
  now(): number
}

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

export const challengeOf = async ({ verifier }: Secrets): Promise<Record<string, string>> => ({
  code_challenge: await calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})

export function answeredUrl(redirectUri: string, { code, iss }: ProviderAnswer, state: string): URL {
  const url = new URL(redirectUri)
  url.search = new URLSearchParams({ code, state, ...(iss === undefined ? {} : { iss }) }).toString()
  return url
}
