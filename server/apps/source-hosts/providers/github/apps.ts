import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AppError } from '../../../../../shared/error.ts'
import type { AppContext } from '../../../context.ts'
import { appById, appOf, type StoredApp } from '../../store/apps.ts'
import { appSecrets } from '../../store/secrets.ts'

export interface GithubAppKeys {
  appId: string
  clientId: string
  clientSecret: string
  privateKey: string
  webhookSecret: string
  /** All workspaces install it, so each has to prove what is theirs. */
  isShared: boolean
}

type AppsContext = Pick<AppContext, 'config' | 'db' | 'sealer'>

const needed = [
  'CP_GITHUB_APP_ID',
  'CP_GITHUB_APP_KEY_FILE',
  'CP_GITHUB_APP_CLIENT_ID',
  'CP_GITHUB_APP_CLIENT_SECRET',
  'CP_GITHUB_WEBHOOK_SECRET',
] as const

export function sharedApp(config: AppsContext['config']): GithubAppKeys | undefined {
  const missing = needed.filter((name) => config[name] === undefined)
  if (missing.length === needed.length) return undefined
  if (missing.length > 0) throw new AppError('bad_request', `A GitHub App takes ${needed.join(', ')}: ${missing.join(', ')} not set.`)
  const value = (name: (typeof needed)[number]): string => config[name] ?? ''
  return {
    appId: value('CP_GITHUB_APP_ID'),
    clientId: value('CP_GITHUB_APP_CLIENT_ID'),
    clientSecret: value('CP_GITHUB_APP_CLIENT_SECRET'),
    privateKey: readKey(value('CP_GITHUB_APP_KEY_FILE')),
    webhookSecret: value('CP_GITHUB_WEBHOOK_SECRET'),
    isShared: true,
  }
}

export function githubAppOf(context: AppsContext, workspaceId: string): GithubAppKeys | undefined {
  const shared = sharedApp(context.config)
  if (shared !== undefined) return shared
  const stored = appOf(context.db, workspaceId)
  return stored === undefined ? undefined : keysOf(context, stored)
}

export function githubAppById(context: AppsContext, appId: string): GithubAppKeys | undefined {
  const shared = sharedApp(context.config)
  if (shared?.appId === appId) return shared
  const stored = appById(context.db, appId)
  return stored === undefined ? undefined : keysOf(context, stored)
}

const keysOf = ({ sealer }: AppsContext, { appId, clientId, secretsSealed }: StoredApp): GithubAppKeys => ({
  appId,
  clientId,
  ...appSecrets.open(sealer, appId, secretsSealed),
  isShared: false,
})

function readKey(path: string): string {
  try {
    const key = readFileSync(path, 'utf8')
    createPrivateKey(key)
    return key
  } catch (cause) {
    throw new AppError('bad_request', 'CP_GITHUB_APP_KEY_FILE names no file with a private key that can be read.', { cause })
  }
}
