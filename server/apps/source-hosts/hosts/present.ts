import { AppError } from '../../../../shared/error.ts'
import {
  type Repository,
  type SourceHostInstallation,
  type SourceHostName,
  type SourceHostStatus,
  sourceHostPath,
} from '../../../../shared/source-host.ts'
import type { HostRepository } from '../port.ts'
import { hooksOf } from '../store/hooks.ts'
import { installationsOf, type StoredInstallation } from '../store/installations.ts'
import { refusedReport } from '../store/reports.ts'
import { hostsFor } from './configured.ts'
import { type HostContext, openInstallation } from './open.ts'

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
    installations: installations.map((one) => presentInstallation(one, one.problem ?? problemOf(context, one))),
  }
}

function problemOf(context: HostContext, installation: StoredInstallation): string | undefined {
  try {
    openInstallation(context, installation)
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
  const refused = hooksOf(context.db, installation.id).find(({ problem }) => problem !== null)
  if (refused !== undefined) return `${refused.repo} has no webhook, and is looked at every few minutes. ${refused.problem}`
  const untold = refusedReport(context.db, installation.id)
  return untold && `Deploys of ${untold.repository} are not told there. ${untold.problem}`
}

export const presentInstallation = (
  { id, provider, account, url, createdAt }: StoredInstallation,
  problem?: string,
): SourceHostInstallation => ({
  id,
  provider,
  account,
  url,
  ...(problem !== undefined && { problem }),
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
