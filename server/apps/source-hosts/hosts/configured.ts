import { AppError } from '../../../../shared/error.ts'
import { type SourceHostName, sourceHostNames } from '../../../../shared/source-host.ts'
import { githubReach } from '../providers/reach.ts'
import { appOf } from '../store/apps.ts'
import type { HostContext } from './open.ts'

export interface ConfiguredHost {
  name: SourceHostName
  url: string
  isConfigured: boolean
}

export const hostsFor = (context: HostContext, workspaceId: string, only?: SourceHostName): ConfiguredHost[] =>
  sourceHostNames.filter((name) => only === undefined || name === only).map((name) => ({ name, ...facts[name](context, workspaceId) }))

const facts: Record<SourceHostName, (context: HostContext, workspaceId: string) => Omit<ConfiguredHost, 'name'>> = {
  github: (context, workspaceId) => ({
    url: githubReach(context).url,
    isConfigured: context.config.CP_GITHUB_APP_ID !== undefined || appOf(context.db, workspaceId) !== undefined,
  }),
  gitea: ({ config: { CP_GITEA_URL: url } }) => ({ url: url ?? '', isConfigured: url !== undefined }),
}

const howTo: Record<SourceHostName, string> = {
  github: 'make a GitHub App with `cpctl sourcehost connect github`, or set CP_GITHUB_APP_ID with its key and secrets',
  gitea: 'set CP_GITEA_URL',
}

export function requireConfigured(context: HostContext, workspaceId: string, only?: SourceHostName): ConfiguredHost {
  const found = hostsFor(context, workspaceId, only).find(({ isConfigured }) => isConfigured)
  if (found !== undefined) return found
  const ways = sourceHostNames.filter((name) => only === undefined || name === only).map((name) => howTo[name])
  throw new AppError('not_configured', `No source host is configured: ${ways.join('; or ')}.`)
}
