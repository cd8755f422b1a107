import { readFile } from 'node:fs/promises'
import { AppError, messageOf } from '../../../../shared/error.ts'
import { parseIp } from '../../../../shared/ip-address.ts'
import { parseRepositoryUrl } from '../../../../shared/repository.ts'
import { OutgoingProblem } from '../../../platform/outgoing/problem.ts'
import { resolveReachable } from '../../../platform/outgoing/resolve.ts'
import type { OutgoingPolicy } from '../../../platform/outgoing/rules.ts'
import type { AppContext } from '../../context.ts'
import { policyOf } from '../../webhooks/url.ts'
import type { RepositoryCredential } from '../access/credential.ts'
import type { Remote, SshRemote, WebRemote, WebUrl } from './environment.ts'
import { requireSsh, type SshUrl } from './ssh.ts'

export type RemoteContext = Pick<AppContext, 'config' | 'lookup' | 'credentials'>

interface Wanted<Url> {
  workspaceId: string
  serviceId: string
  url: Url
  remark?: (text: string) => void
}

export async function openRemote(context: RemoteContext, wanted: Wanted<string>, signal: AbortSignal): Promise<Remote> {
  const url = parseRepositoryUrl(wanted.url)
  if (url === undefined)
    throw new AppError(
      'bad_request',
      'The repository of the service has no URL of https or ssh. Give it one with `cpctl services update --repo`.',
    )
  return url.scheme === 'ssh' ? await openSsh(context, { ...wanted, url }, signal) : await openWeb(context, { ...wanted, url }, signal)
}

async function openSsh(
  context: RemoteContext,
  { url, remark = () => {}, ...wanted }: Wanted<SshUrl>,
  signal: AbortSignal,
): Promise<SshRemote> {
  requireSsh()
  const credential = await credentialOf(context, { ...wanted, url: url.href }, signal)
  if (credential.kind !== 'deploy_key') throw new AppError('internal', 'The service has no deploy key.')
  const address = await addressOf(context, { host: url.host, policy: policyOf(context.config) }, signal)
  return { kind: 'ssh', url, address, credential, remark }
}

async function openWeb(context: RemoteContext, { url, ...wanted }: Wanted<WebUrl>, signal: AbortSignal): Promise<WebRemote> {
  const credential = await credentialOf(context, { ...wanted, url: url.href }, signal)
  if (credential.kind === 'deploy_key') throw new AppError('internal', 'A deploy key opens no repository by https.')
  const host = url.host.replace(/^\[(.*)\]$/, '$1')
  const isNamedBySetting = credential.kind === 'token' && credential.mayBePrivate === true
  const policy = { ...policyOf(context.config), ...(isNamedBySetting && { namedHosts: new Set([host]) }) }
  const address = await addressOf(context, { host, policy }, signal)
  const isNamed = parseIp(url.host) === undefined && !url.host.startsWith('[')
  return { kind: 'web', url, address: isNamed ? address : undefined, credential, authority: await authorityFor(context, credential) }
}

interface Destination {
  host: string
  policy: OutgoingPolicy
}

async function addressOf({ lookup }: RemoteContext, { host, policy }: Destination, signal: AbortSignal): Promise<string> {
  try {
    const [address = host] = await resolveReachable(host, policy, { lookup, signal })
    return address
  } catch (error) {
    if (error instanceof OutgoingProblem)
      throw new AppError('bad_request', `The repository cannot be reached: ${error.message}`, { cause: error })
    throw error
  }
}

async function credentialOf({ credentials }: RemoteContext, wanted: Wanted<string>, signal: AbortSignal): Promise<RepositoryCredential> {
  for (const ask of credentials) {
    const credential = await ask(wanted, signal)
    if (credential !== undefined) return credential
  }
  return { kind: 'none' }
}

/** Certificates that the operator has builds trust hold for git as well. */
async function authorityFor({ config }: RemoteContext, credential: RepositoryCredential): Promise<string | undefined> {
  if (credential.kind === 'token' && credential.authority !== undefined) return credential.authority
  const path = config.buildEnv.SSL_CERT_FILE
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new AppError('unavailable', `The file of SSL_CERT_FILE cannot be read: ${messageOf(cause)}`, { cause })
  }
}
