import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import { parseIpRange } from '../../../../shared/ip-address.ts'
import { sourceHostTitles } from '../../../../shared/source-host.ts'
import { githubUrlsOf } from '../../../identity/oauth/providers/settings.ts'
import type { Lookup } from '../../../platform/outgoing/resolve.ts'
import { hostOf, type OutgoingPolicy } from '../../../platform/outgoing/rules.ts'
import type { AppContext } from '../../context.ts'

export interface Reach {
  title: string
  url: string
  apiUrl: string
  policy: OutgoingPolicy
  lookup: Lookup
  ca: string | undefined
}

type ReachContext = Pick<AppContext, 'config' | 'lookup'>

/** Hosts that a setting names may be in private networks; what they lead to may not. */
const policyFor = ({ config }: ReachContext, urls: readonly string[]): OutgoingPolicy => ({
  namedHosts: new Set(urls.map((url) => hostOf(new URL(url)))),
  allowedRanges: config.CP_OUTGOING_ALLOW.flatMap((cidr) => parseIpRange(cidr) ?? []),
})

export function githubReach(context: ReachContext): Reach {
  const { url, apiUrl } = githubUrlsOf(context.config)
  return { title: sourceHostTitles.github, url, apiUrl, policy: policyFor(context, [url, apiUrl]), lookup: context.lookup, ca: undefined }
}

export function giteaReach(context: ReachContext): Reach | undefined {
  const { CP_GITEA_URL: url } = context.config
  if (url === undefined) return undefined
  const policy = policyFor(context, [url])
  return { title: 'Gitea', url, apiUrl: `${url}/api/v1`, policy, lookup: context.lookup, ca: giteaAuthority(context.config) }
}

/** Certificates that a setting names. @throws AppError bad_request where there are none, which keeps the server from starting. */
export function giteaAuthority({ CP_GITEA_CA_FILE: path }: ReachContext['config']): string | undefined {
  if (path === undefined) return undefined
  try {
    const certificates = readFileSync(path, 'utf8')
    new X509Certificate(certificates)
    return certificates
  } catch (cause) {
    throw new AppError('bad_request', 'CP_GITEA_CA_FILE names no file with a certificate in PEM that can be read.', { cause })
  }
}
