import { AppError } from '../../../../shared/error.ts'
import { parseIp } from '../../../../shared/ip-address.ts'
import { parseRepositoryUrl } from '../../../../shared/repository.ts'
import { OutgoingProblem } from '../../../platform/outgoing/problem.ts'
import { resolveReachable } from '../../../platform/outgoing/resolve.ts'
import type { AppContext } from '../../context.ts'
import { policyOf } from '../../webhooks/url.ts'
import type { RepositoryCredential } from '../credential.ts'
import type { Remote } from './environment.ts'

export type RemoteContext = Pick<AppContext, 'config' | 'lookup' | 'credentials'>

interface Wanted {
  workspaceId: string
  url: string
}

/** Looks up where a repository is, and what lets the workspace in there. @throws AppError where it may not be gone to, or nobody can say now. */
export async function openRemote(context: RemoteContext, { workspaceId, url: text }: Wanted, signal: AbortSignal): Promise<Remote> {
  const url = parseRepositoryUrl(text)
  if (url === undefined || url.scheme === 'ssh')
    throw new AppError('bad_request', 'The repository of the service has no https URL. Give it one with `cpctl services update --repo`.')
  const address = await addressOf(context, url.host.replace(/^\[(.*)\]$/, '$1'), signal)
  const credential = await credentialOf(context, { workspaceId, url: url.href }, signal)
  return { url, address: parseIp(url.host) === undefined && !url.host.startsWith('[') ? address : undefined, credential }
}

async function addressOf({ config, lookup }: RemoteContext, host: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const [address] = await resolveReachable(host, policyOf(config), { lookup, signal })
    return address
  } catch (error) {
    if (error instanceof OutgoingProblem)
      throw new AppError('bad_request', `The repository cannot be reached: ${error.message}`, { cause: error })
    throw error
  }
}

async function credentialOf(
  { credentials }: RemoteContext,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Exclude<RepositoryCredential, { kind: 'deploy_key' }>> {
  for (const ask of credentials) {
    const credential = await ask(wanted, signal)
    if (credential !== undefined && credential.kind !== 'deploy_key') return credential
  }
  return { kind: 'none' }
}
