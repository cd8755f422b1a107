import { AppError } from '../../../../shared/error.ts'
import { type GithubManifest, type SourceHostName, sourceHostPath } from '../../../../shared/source-host.ts'
import type { Actor } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { requireConfigured } from '../hosts/configured.ts'
import { toldToCaller } from '../hosts/repositories.ts'
import { githubAppOf } from '../providers/github/apps.ts'
import { manifestOf } from '../providers/github/manifest.ts'
import { installUrlOf } from '../providers/github/people.ts'
import { githubReach } from '../providers/reach.ts'
import { appOf } from '../store/apps.ts'
import { beginAttempt } from '../store/attempts.ts'
import { installationsOf } from '../store/installations.ts'

/** Where a browser connects an account. Programs get the page on which a person goes on. */
export async function installUrl(
  context: AppContext,
  actor: Actor,
  { only, signal }: { only?: SourceHostName; signal: AbortSignal },
): Promise<string> {
  const { workspaceId } = actor
  const { name } = requireConfigured(context, workspaceId, only)
  const keys = name === 'github' ? githubAppOf(context, workspaceId) : undefined
  if (keys === undefined || actor.type !== 'user') return context.publicUrl + sourceHostPath(name, workspaceId)
  const state = beginAttempt(context.db, { workspaceId, userId: actor.id, purpose: 'install' }, context.now())
  return toldToCaller(() => installUrlOf(githubReach(context), { keys, state }, signal))
}

/** Whether accounts are connected through the app that a workspace has made: another in its place would lose them. */
export function isAppUsed({ db }: Pick<AppContext, 'db'>, workspaceId: string): boolean {
  const app = appOf(db, workspaceId)
  return app !== undefined && installationsOf(db, workspaceId, 'github').some(({ appId }) => appId === app.appId)
}

/** What a browser posts to GitHub to make the workspace's app. @throws AppError conflict where there is one that is used. */
export function beginApp(context: AppContext, { id: userId, workspaceId, type }: Actor): GithubManifest {
  if (type === 'api_key')
    throw new AppError(
      'conflict',
      `An app is made in the browser of a person: ${context.publicUrl}${sourceHostPath('github', workspaceId)}`,
    )
  if (context.config.CP_GITHUB_APP_ID !== undefined || isAppUsed(context, workspaceId))
    throw new AppError('conflict', 'There is a GitHub App already. Install it: GET /v1/github/install leads there.')
  const state = beginAttempt(context.db, { workspaceId, userId, purpose: 'app' }, context.now())
  const random = crypto.randomUUID().slice(0, 6)
  return {
    action: `${githubReach(context).url}/settings/apps/new?${new URLSearchParams({ state })}`,
    manifest: JSON.stringify(manifestOf(context.publicUrl, random)),
  }
}
