/** OpenSSH's client, as git starts it: with one key, to one address, by no configuration but this. */
import { existsSync } from 'node:fs'
import { AppError } from '../../../../shared/error.ts'
import type { RepositoryUrl } from '../../../../shared/repository.ts'

export type SshUrl = Extract<RepositoryUrl, { scheme: 'ssh' }>

const SSH = '/usr/bin/ssh'
export const SSH_CONFIG_FILE = 'ssh_config'
export const DEPLOY_KEY_FILE = 'deploy_key'
export const KNOWN_HOSTS_FILE = 'known_hosts'

/** git adds its own arguments, which are no part of this text, and gives both to a shell. */
export const SSH_COMMAND = `${SSH} -F ${SSH_CONFIG_FILE}`

/** @throws AppError not_configured on a machine without ssh. */
export function requireSsh(): void {
  if (existsSync(SSH)) return
  throw new AppError(
    'not_configured',
    'This server has no ssh. Its operator installs it: apt-get install openssh-client (dnf install openssh-clients).',
  )
}

const DEFAULT_PORT = 22

export const hostOf = ({ host, port = DEFAULT_PORT }: Pick<SshUrl, 'host' | 'port'>): string =>
  port === DEFAULT_PORT ? host : `[${host}]:${port}`

/** No agent, other key, forwarding or program on the way: ssh_config(5) tells what each is for. */
const settings: Readonly<Record<string, string>> = {
  BatchMode: 'yes',
  IdentityFile: DEPLOY_KEY_FILE,
  IdentitiesOnly: 'yes',
  IdentityAgent: 'none',
  AddKeysToAgent: 'no',
  PKCS11Provider: 'none',
  PreferredAuthentications: 'publickey',
  PasswordAuthentication: 'no',
  KbdInteractiveAuthentication: 'no',
  HostbasedAuthentication: 'no',
  UserKnownHostsFile: KNOWN_HOSTS_FILE,
  GlobalKnownHostsFile: '/dev/null',
  HashKnownHosts: 'no',
  UpdateHostKeys: 'no',
  VerifyHostKeyDNS: 'no',
  CheckHostIP: 'no',
  NoHostAuthenticationForLocalhost: 'no',
  CanonicalizeHostname: 'no',
  ProxyCommand: 'none',
  ProxyJump: 'none',
  ControlMaster: 'no',
  ControlPath: 'none',
  PermitLocalCommand: 'no',
  ClearAllForwardings: 'yes',
  ForwardAgent: 'no',
  ForwardX11: 'no',
  Tunnel: 'no',
  RequestTTY: 'no',
  EscapeChar: 'none',
  LogLevel: 'ERROR',
  ConnectTimeout: '20',
  ConnectionAttempts: '1',
  ServerAliveInterval: '15',
  ServerAliveCountMax: '4',
}

export interface SshWay {
  host: string
  /** An address that was looked at: no second look-up leads elsewhere. */
  address: string
  hostKey: string | undefined
}

/** The whole configuration. Where a key of the host is known no other one will do, of whatever type; otherwise the first is taken. */
export function sshConfig({ host, address, hostKey }: SshWay): string {
  const checking = { HostName: address, HostKeyAlias: host, StrictHostKeyChecking: hostKey === undefined ? 'accept-new' : 'yes' }
  return `${Object.entries({ ...settings, ...checking })
    .map(([name, value]) => `${name} ${value}`)
    .join('\n')}\n`
}

export const knownHosts = ({ host, hostKey }: Pick<SshWay, 'host' | 'hostKey'>): string =>
  hostKey === undefined ? '' : `${host} ${hostKey}\n`

const HOST_KEY = /^(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-[a-z0-9@.-]+) [A-Za-z0-9+/]+={0,2}$/

/** The key that ssh has taken from this host, by its file of known hosts; undefined where it has not come so far. */
export function hostKeyIn(text: string, host: string): string | undefined {
  const [line = ''] = text.split('\n').filter((known) => known.startsWith(`${host} `))
  const key = line.slice(host.length + 1).trim()
  return HOST_KEY.test(key) ? key : undefined
}
