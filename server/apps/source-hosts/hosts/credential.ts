import type { CredentialSource } from '../../repositories/access/credential.ts'
import type { SourceHost } from '../port.ts'
import { giteaAuthority } from '../providers/reach.ts'
import { installationsOf, type StoredInstallation } from '../store/installations.ts'
import { type HostContext, openInstallation } from './open.ts'
import { nameBelow } from './repository-name.ts'

export interface Located {
  host: SourceHost
  installation: StoredInstallation
  /** owner/name */
  name: string
}

/** The installation of a workspace that a repository's URL belongs to; undefined for one of elsewhere. Nothing is asked for it. */
export function locate(context: HostContext, workspaceId: string, url: string): Located | undefined {
  const at = URL.canParse(url) ? new URL(url) : undefined
  const found = installationsOf(context.db, workspaceId).flatMap((installation) => {
    const name = at && nameBelow(installation.url, at)
    return name === undefined ? [] : [{ installation, name }]
  })
  const one = found.find(isOwn) ?? found.find(({ installation }) => installation.appId === '')
  return one && { host: openInstallation(context, one.installation), ...one }
}

export const hostCredentials =
  (context: HostContext): CredentialSource =>
  async ({ workspaceId, url }, signal) => {
    const located = locate(context, workspaceId, url)
    if (located === undefined) return undefined
    const authority = located.host.provider === 'gitea' ? giteaAuthority(context.config) : undefined
    const token = await located.host.tokenFor(located.name, signal)
    return { kind: 'token', ...token, ...(authority !== undefined && { authority }), mayBePrivate: true }
  }

/** An app has the repositories of its account alone, a person those of others as well that let them in. */
const isOwn = ({ installation, name }: Omit<Located, 'host'>): boolean =>
  name.toLowerCase().startsWith(`${installation.account.toLowerCase()}/`)
