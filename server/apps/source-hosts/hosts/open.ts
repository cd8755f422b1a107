import { AppError } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import type { SourceHost } from '../port.ts'
import { openGitea } from '../providers/gitea/gitea.ts'
import { githubAppById } from '../providers/github/apps.ts'
import { openGithub } from '../providers/github/github.ts'
import { giteaReach, githubReach, type Reach } from '../providers/reach.ts'
import type { StoredInstallation } from '../store/installations.ts'
import { personalSecrets } from '../store/secrets.ts'

export type HostContext = Pick<AppContext, 'config' | 'db' | 'lookup' | 'sealer'>

/** The host of an installation, with its rights. @throws AppError not_configured where settings no longer lead there. */
export const openInstallation = (context: HostContext, installation: StoredInstallation): SourceHost =>
  openers[installation.provider](context, installation)

export function ifConfigured<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_configured') return undefined
    throw error
  }
}

const openers = {
  gitea(context: HostContext, { id, account, url, secretsSealed }: StoredInstallation): SourceHost {
    const reach = sameHost(giteaReach(context), url, 'CP_GITEA_URL')
    const { token } = personalSecrets.open(context.sealer, id, secretsSealed ?? '')
    return openGitea(reach, { account, token })
  },
  github(context: HostContext, { appId, externalId, url }: StoredInstallation): SourceHost {
    const reach = sameHost(githubReach(context), url, 'CP_GITHUB_URL')
    const keys = githubAppById(context, appId)
    if (keys === undefined)
      throw new AppError(
        'not_configured',
        'The GitHub App of this connection is not known any more. Set CP_GITHUB_APP_ID again, or disconnect it.',
      )
    return openGithub(reach, { keys, installationId: externalId })
  },
}

/** What one host gave is shown to no other, to which a setting may have been changed. */
function sameHost(reach: Reach | undefined, url: string, setting: string): Reach {
  if (reach?.url === url) return reach
  throw new AppError(
    'not_configured',
    `The account was connected at ${url}, where ${setting} no longer leads. Set it back, or disconnect the account.`,
  )
}
