import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AppError, messageOf } from '../../../../shared/error.ts'
import type { IdentitySettings } from '../../settings.ts'

export type ProviderSettings = GithubSettings | OpenIdSettings | AppleSettings

interface ClientSettings {
  name: string
  clientId: string
}

export interface GithubSettings extends ClientSettings {
  id: 'github'
  clientSecret: string
  url: string
  apiUrl: string
}

export interface OpenIdSettings extends ClientSettings {
  id: 'google'
  issuer: string
  clientSecret: string
}

export interface AppleSettings extends ClientSettings {
  id: 'apple'
  issuer: string
  teamId: string
  keyId: string
  privateKey: KeyObject
}

const githubDefaults = { url: 'https://github.com', apiUrl: 'https://api.github.com' }
const ENTERPRISE_API_PATH = '/api/v3'
const GOOGLE_ISSUER = 'https://accounts.google.com'
const APPLE_ISSUER = 'https://appleid.apple.com'

/** @throws AppError `bad_request` naming what is missing of a provider configured by half, or a key file that cannot be used. */
export const providerSettingsOf = (config: IdentitySettings): ProviderSettings[] =>
  [githubOf(config), googleOf(config), appleOf(config)].filter((settings) => settings !== undefined)

function githubOf(config: IdentitySettings): GithubSettings | undefined {
  const given = allOrNone(config, ['CP_GITHUB_CLIENT_ID', 'CP_GITHUB_CLIENT_SECRET'], [])
  if (given === undefined) return undefined
  const { CP_GITHUB_CLIENT_ID: clientId, CP_GITHUB_CLIENT_SECRET: clientSecret } = given
  return { id: 'github', name: 'GitHub', clientId, clientSecret, ...githubUrlsOf(config) }
}

/** GitHub, or one of the operator's own. People may sign in there, and repositories may be deployed from there. */
export function githubUrlsOf(config: Pick<IdentitySettings, 'CP_GITHUB_URL' | 'CP_GITHUB_API_URL'>): { url: string; apiUrl: string } {
  const url = withoutSlash(config.CP_GITHUB_URL ?? githubDefaults.url)
  const apiUrl = config.CP_GITHUB_API_URL ?? (url === githubDefaults.url ? githubDefaults.apiUrl : url + ENTERPRISE_API_PATH)
  return { url, apiUrl: withoutSlash(apiUrl) }
}

function googleOf(config: IdentitySettings): OpenIdSettings | undefined {
  const given = allOrNone(config, ['CP_GOOGLE_CLIENT_ID', 'CP_GOOGLE_CLIENT_SECRET'], ['CP_GOOGLE_ISSUER', 'CP_GOOGLE_NAME'])
  if (given === undefined) return undefined
  const { CP_GOOGLE_CLIENT_ID: clientId, CP_GOOGLE_CLIENT_SECRET: clientSecret } = given
  const issuer = config.CP_GOOGLE_ISSUER ?? GOOGLE_ISSUER
  const name = config.CP_GOOGLE_NAME ?? (issuer === GOOGLE_ISSUER ? 'Google' : new URL(issuer).host)
  return { id: 'google', name, issuer, clientId, clientSecret }
}

const appleNames = ['CP_APPLE_CLIENT_ID', 'CP_APPLE_TEAM_ID', 'CP_APPLE_KEY_ID', 'CP_APPLE_PRIVATE_KEY_FILE'] as const

function appleOf(config: IdentitySettings): AppleSettings | undefined {
  const given = allOrNone(config, appleNames, ['CP_APPLE_ISSUER'])
  if (given === undefined) return undefined
  return {
    id: 'apple',
    name: 'Apple',
    issuer: config.CP_APPLE_ISSUER ?? APPLE_ISSUER,
    clientId: given.CP_APPLE_CLIENT_ID,
    teamId: given.CP_APPLE_TEAM_ID,
    keyId: given.CP_APPLE_KEY_ID,
    privateKey: readAppleKey(given.CP_APPLE_PRIVATE_KEY_FILE),
  }
}

function allOrNone<const N extends keyof IdentitySettings>(
  config: IdentitySettings,
  needed: readonly N[],
  extras: readonly (keyof IdentitySettings)[],
): Record<N, string> | undefined {
  const set = [...needed, ...extras].filter((name) => config[name] !== undefined)
  const missing = needed.filter((name) => config[name] === undefined)
  const [first] = set
  if (first === undefined) return undefined
  if (missing.length > 0) {
    throw new AppError(
      'bad_request',
      `${first} is set, but ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not. Set all of them, or none.`,
    )
  }
  return Object.fromEntries(needed.map((name) => [name, String(config[name])])) as Record<N, string>
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/** Apple signs people in with keys on the curve P-256 only. */
function readAppleKey(path: string): KeyObject {
  const setting = 'CP_APPLE_PRIVATE_KEY_FILE'
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new AppError('bad_request', `${setting}: ${path} cannot be read as a private key (${messageOf(cause)})`, { cause })
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new AppError('bad_request', `${setting}: ${path} does not hold a key of the curve P-256, as Apple's are`)
  }
  return key
}
