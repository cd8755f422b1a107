import type { RepositoryUrl } from '../../../../shared/repository.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'
import type { RepositoryCredential } from '../access/credential.ts'

export type WebUrl = Extract<RepositoryUrl, { href: string }>

/** A repository that git may be sent to: its URL, an address that was looked at, and what lets us in. */
export interface Remote {
  url: WebUrl
  /** Absent where the URL names an address. */
  address: string | undefined
  credential: Exclude<RepositoryCredential, { kind: 'deploy_key' }>
  /** Certificates, in PEM, that the host is verified by in place of those that the machine trusts. */
  authority: string | undefined
}

/** Where they stand in the folder that git works in. */
export const AUTHORITY_FILE = 'authority.pem'

const defaultPorts = { https: 443, http: 80 }

/** Nothing of the machine's git, of the repository's own and of what a server sends back is gone by: no hooks, filters, redirects, other protocols. */
const fixed: readonly (readonly [string, string])[] = [
  ['protocol.allow', 'never'],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '30'],
  ['credential.helper', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.askPass', ''],
  ['transfer.fsckObjects', 'true'],
  ['fetch.unpackLimit', '1'],
  ['fetch.recurseSubmodules', 'false'],
  ['submodule.recurse', 'false'],
  // What is large is passed on in pieces, so that a bound on memory refuses only what is made to fill it.
  ['core.bigFileThreshold', '8m'],
  ['core.packedGitLimit', '192m'],
  ['core.packedGitWindowSize', '16m'],
  ['core.deltaBaseCacheLimit', '32m'],
  ['pack.threads', '1'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['init.defaultBranch', 'main'],
  ['advice.detachedHead', 'false'],
]

/**
 * The whole environment of git. The credential stands here, where the user that git runs as and root alone can read it, and in no argument,
 * file or URL. The name is pinned to the address that was looked at, so that no second look-up leads elsewhere.
 */
export function gitEnvironment(remote: Remote | undefined): Record<string, string> {
  const config = [...fixed, ...(remote === undefined ? [] : remoteConfig(remote))]
  const pairs = config.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    PATH: SYSTEM_PATH,
    LC_ALL: 'C.UTF-8',
    HOME: '/nonexistent',
    // The folder that it works in, and none above it, which may be a repository of somebody's.
    GIT_DIR: '.',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(config.length),
    ...(Object.fromEntries(pairs) as Record<string, string>),
  }
}

function remoteConfig({ url, address, credential, authority }: Remote): [string, string][] {
  const port = url.port ?? defaultPorts[url.scheme]
  const pinned = address?.includes(':') ? `[${address}]` : address
  return [
    [`protocol.${url.scheme}.allow`, 'always'],
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
export const secretsOf = ({ credential }: Remote): string[] => (credential.kind === 'token' ? [credential.token, basicOf(credential)] : [])
