import type { Database } from 'bun:sqlite'
import { AppError, invalidValue } from '../../../../shared/error.ts'
import { newToken } from '../../../identity/tokens/token.ts'
import { newId } from '../../../platform/id.ts'
import type { AppContext } from '../../context.ts'
import { retryLooks } from '../../repositories/look-store.ts'
import { toldToCaller } from '../hosts/repositories.ts'
import { giteaUserOf } from '../providers/gitea/gitea.ts'
import { giteaReach } from '../providers/reach.ts'
import { retryHooks } from '../store/hooks.ts'
import { changeInstallation, insertInstallation, installationsOf, type StoredInstallation } from '../store/installations.ts'
import { personalSecrets } from '../store/secrets.ts'

const MAX_INSTALLATIONS = 50

type ConnectContext = Pick<AppContext, 'config' | 'db' | 'lookup' | 'now' | 'sealer'>

export interface GiteaPerson {
  url: string
  externalId: string
  account: string
}

/** Whose a token is. @throws AppError validation_failed for one that the Gitea does not take. */
export async function personOf(context: ConnectContext, token: string, signal: AbortSignal): Promise<GiteaPerson> {
  const reach = giteaReach(context)
  if (reach === undefined) throw new AppError('not_configured', 'No Gitea is configured: set CP_GITEA_URL.')
  try {
    const { id, login } = await giteaUserOf(reach, token, signal)
    return { url: reach.url, externalId: String(id), account: login }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'forbidden') return toldToCaller(() => Promise.reject(error))
    throw invalidValue(
      '/token',
      `The Gitea does not take this token. Make one at ${reach.url}/user/settings/applications with read:user and write:repository.`,
    )
  }
}

export function keepGitea(
  context: ConnectContext,
  workspaceId: string,
  { token, url, externalId, account }: GiteaPerson & { token: string },
): StoredInstallation {
  const { db, sealer } = context
  const now = context.now()
  const present = installationsOf(db, workspaceId).find(
    (one) => one.provider === 'gitea' && one.url === url && one.externalId === externalId,
  )
  if (present !== undefined) {
    const { webhookSecret } = personalSecrets.open(sealer, present.id, present.secretsSealed ?? '')
    const change = {
      account,
      secretsSealed: personalSecrets.seal(sealer, present.id, { token, webhookSecret }),
      problem: null,
      updatedAt: now,
    }
    changeInstallation(db, present.id, change)
    retryHooks(db, present.id, now)
    retryLooks(db, { workspaceId }, now)
    return { ...present, ...change }
  }
  if (isFull(db, workspaceId))
    throw new AppError(
      'conflict',
      `This workspace is connected to ${MAX_INSTALLATIONS} accounts, the most there can be. Disconnect one that nobody needs.`,
    )
  const id = newId('sourceHostInstallation', now)
  const secretsSealed = personalSecrets.seal(sealer, id, { token, webhookSecret: newToken() })
  const times = { createdAt: now, updatedAt: now }
  const made: StoredInstallation = {
    id,
    workspaceId,
    provider: 'gitea',
    url,
    appId: '',
    externalId,
    account,
    secretsSealed,
    problem: null,
    ...times,
  }
  insertInstallation(db, made)
  retryLooks(db, { workspaceId }, now)
  return made
}

export const isFull = (db: Database, workspaceId: string): boolean => installationsOf(db, workspaceId).length >= MAX_INSTALLATIONS
