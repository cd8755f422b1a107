import {
  type Repository,
  type SourceHostInstallation,
  type SourceHostName,
  type SourceHostStatus,
  sourceHostPath,
} from '../../../../shared/source-host.ts'
import type { HostRepository } from '../port.ts'
import { installationsOf, type StoredInstallation } from '../store/installations.ts'
import { hostsFor } from './configured.ts'
import type { HostContext } from './open.ts'

export function statusOf(context: HostContext & { publicUrl: string }, workspaceId: string, only?: SourceHostName): SourceHostStatus {
  const hosts = hostsFor(context, workspaceId, only)
  const installations = installationsOf(context.db, workspaceId, only)
  const [first] = installations
  return {
    configured: hosts.some(({ isConfigured }) => isConfigured),
    installed: first !== undefined,
    ...(first !== undefined && { account: first.account }),
    providers: hosts.map(({ name, isConfigured, url }) => ({
      name,
      configured: isConfigured,
      url,
      connectUrl: context.publicUrl + sourceHostPath(name, workspaceId),
    })),
    installations: installations.map(presentInstallation),
  }
}

export const presentInstallation = ({ id, provider, account, url, problem, createdAt }: StoredInstallation): SourceHostInstallation => ({
  id,
  provider,
  account,
  url,
  ...(problem !== null && { problem }),
  createdAt: new Date(createdAt).toISOString(),
})

export const presentRepository = ({ id, provider }: StoredInstallation, found: HostRepository): Repository => ({
  name: found.name,
  provider,
  installationId: id,
  cloneUrl: found.cloneUrl,
  url: found.url,
  private: found.isPrivate,
  defaultBranch: found.defaultBranch,
})
