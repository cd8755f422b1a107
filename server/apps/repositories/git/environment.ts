import type { RepositoryUrl } from '../../../../shared/repository.ts'
import { hardenedEnvironment, hardenedSettings } from '../../git/hardened.ts'
import type { DeployKeyCredential, RepositoryCredential } from '../access/credential.ts'
import { SSH_COMMAND, type SshUrl } from './ssh.ts'

export type WebUrl = Exclude<RepositoryUrl, SshUrl>

/** A repository that git may be sent to: its URL, an address that was looked at, and what lets us in. */
export type Remote = WebRemote | SshRemote

export interface WebRemote {
  kind: 'web'
  url: WebUrl
  address: string | undefined
  credential: Exclude<RepositoryCredential, DeployKeyCredential>
  authority: string | undefined
}

export interface SshRemote {
  kind: 'ssh'
  url: SshUrl
  address: string
  credential: DeployKeyCredential
  /** Is told what a server is known by from now on that the service had not been to. */
  remark(text: string): void
}

export const AUTHORITY_FILE = 'authority.pem'

const defaultPorts = { https: 443, http: 80 }

/** A server's redirects lead nowhere, and nobody is asked for what lets in. */
const settings: Readonly<Record<string, string>> = {
  ...hardenedSettings,
  'http.followRedirects': 'false',
  'http.proxy': '',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'credential.helper': '',
  'core.askPass': '',
  'fetch.unpackLimit': '1',
  'fetch.recurseSubmodules': 'false',
  'submodule.recurse': 'false',
  'init.defaultBranch': 'main',
}

/**
 * The whole environment of git. A token stands here, where the user that git runs as and root alone can read it, and in no argument,
 * file or URL. The name is pinned to the address that was looked at, so that no second look-up leads elsewhere.
 */
export function gitEnvironment(remote: Remote | undefined): Record<string, string> {
  const config = [...Object.entries(settings), ...(remote === undefined ? [] : remoteConfig(remote))]
  const pairs = config.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    ...hardenedEnvironment,
    GIT_OPTIONAL_LOCKS: '0',
    ...(remote?.kind === 'ssh' && { GIT_SSH_COMMAND: SSH_COMMAND, GIT_SSH_VARIANT: 'ssh' }),
    GIT_CONFIG_COUNT: String(config.length),
    ...(Object.fromEntries(pairs) as Record<string, string>),
  }
}

function remoteConfig(remote: Remote): [string, string][] {
  const allowed = [`protocol.${remote.url.scheme}.allow`, 'always'] satisfies [string, string]
  return [allowed, ...(remote.kind === 'web' ? webConfig(remote) : [])]
}

function webConfig({ url, address, credential, authority }: WebRemote): [string, string][] {
  const port = url.port ?? defaultPorts[url.scheme]
  const pinned = address?.includes(':') ? `[${address}]` : address
  return [
    ...(pinned === undefined ? [] : [['http.curloptResolve', `${url.host}:${port}:${pinned}`] satisfies [string, string]]),
    ...(authority === undefined ? [] : [['http.sslCAInfo', AUTHORITY_FILE] satisfies [string, string]]),
    ...(credential.kind === 'token' ? [[`http.${url.href}.extraHeader`, authorizationOf(credential)] satisfies [string, string]] : []),
  ]
}

const authorizationOf = (credential: Extract<RepositoryCredential, { kind: 'token' }>): string =>
  `Authorization: Basic ${basicOf(credential)}`

const basicOf = ({ username, token }: Extract<RepositoryCredential, { kind: 'token' }>): string =>
  Buffer.from(`${username}:${token}`).toString('base64')

/** What must stand in no message, as a server may send back what it was sent. */
export const secretsOf = ({ credential }: Pick<Remote, 'credential'>): string[] =>
  credential.kind === 'token' ? [credential.token, basicOf(credential)] : []
