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
import type { Remote } from './environment.ts'

export type RemoteContext = Pick<AppContext, 'config' | 'lookup' | 'credentials'>

interface Wanted {
  workspaceId: string
  url: string
}

export async function openRemote(context: RemoteContext, { workspaceId, url: text }: Wanted, signal: AbortSignal): Promise<Remote> {
  const url = parseRepositoryUrl(text)
  if (url === undefined || url.scheme === 'ssh')
    throw new AppError('bad_request', 'The repository of the service has no https URL. Give it one with `cpctl services update --repo`.')
  const credential = await credentialOf(context, { workspaceId, url: url.href }, signal)
  const host = url.host.replace(/^\[(.*)\]$/, '$1')
  const isNamedBySetting = credential.kind === 'token' && credential.mayBePrivate === true
  const policy = { ...policyOf(context.config), ...(isNamedBySetting && { namedHosts: new Set([host]) }) }
  const address = await addressOf(context, { host, policy }, signal)
  const isNamed = parseIp(url.host) === undefined && !url.host.startsWith('[')
  return { url, address: isNamed ? address : undefined, credential, authority: await authorityFor(context, credential) }
}

interface Destination {
  host: string
  policy: OutgoingPolicy
}

async function addressOf({ lookup }: RemoteContext, { host, policy }: Destination, signal: AbortSignal): Promise<string | undefined> {
  try {
    const [address] = await resolveReachable(host, policy, { lookup, signal })
    return address
  } catch (error) {
    if (error instanceof OutgoingProblem)
      throw new AppError('bad_request', `The repository cannot be reached: ${error.message}`, { cause: error })
    throw error
  }
}

async function credentialOf({ credentials }: RemoteContext, wanted: Wanted, signal: AbortSignal): Promise<Remote['credential']> {
  for (const ask of credentials) {
    const credential = await ask(wanted, signal)
    if (credential !== undefined && credential.kind !== 'deploy_key') return credential
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
