import { homedir } from 'node:os'
import { join } from 'node:path'
import { usageError } from './error.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const environment = (): Environment => process.env

export const homeOf = (env: Environment): string => env.HOME || homedir()

export const DEFAULT_URL = 'http://127.0.0.1:8400'

/** What the environment says; everything in it wins over what `cpctl login` stored. */
export interface Settings {
  url: string | undefined
  token: string | undefined
  workspace: string | undefined
  context: string | undefined
  credentialsPath: string
  isColourRefused: boolean
}

export function settingsOf(env: Environment): Settings {
  const { CPCTL_URL, CPCTL_TOKEN, CPCTL_WORKSPACE, CPCTL_CONTEXT, XDG_CONFIG_HOME } = env
  const base = XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : join(homeOf(env), '.config')
  return {
    url: CPCTL_URL ? serverUrl(CPCTL_URL, 'CPCTL_URL') : undefined,
    token: CPCTL_TOKEN ? credential(CPCTL_TOKEN, 'CPCTL_TOKEN') : undefined,
    workspace: CPCTL_WORKSPACE || undefined,
    context: CPCTL_CONTEXT || undefined,
    credentialsPath: join(base, 'cpctl', 'config.json'),
    isColourRefused: Boolean(env.NO_COLOR) || env.TERM === 'dumb',
  }
}

/** A server's address without a trailing slash; `http://` is added to a bare host. @throws CliError with the usage exit code. */
export function serverUrl(text: string, origin: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined
  const isServer = url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === ''
  if (!isServer) throw usageError(`${origin} is not the URL of a server: ${text}`, 'Give one such as https://cp.example.com.')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** A token as it may stand in a header. @throws CliError with the usage exit code. */
export function credential(text: string, origin: string): string {
  const token = text.trim()
  if (!/^[!-~]+$/.test(token)) throw usageError(`${origin} is not a token: it must be one word of printable ASCII.`)
  return token
}
