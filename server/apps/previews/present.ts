import type { Preview } from '../../../shared/preview.ts'
import type { AppContext } from '../context.ts'
import { latestDeployStatus } from '../deploys/store.ts'
import { urlOf } from '../services/addresses.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { expiryOf, statusOf } from './plan.ts'
import { factsOf } from './reconcile.ts'
import type { StoredPreview } from './store.ts'

export type PresentContext = Pick<AppContext, 'config' | 'db' | 'hasCertificate' | 'now'>

export function presentPreview(context: PresentContext, parent: StoredService, preview: StoredPreview): Preview {
  const { db } = context
  const service = preview.serviceId === null ? undefined : serviceById(db, preview.serviceId)
  const expiresAt = service === undefined ? undefined : expiryOf(preview, parent.labels.previews)
  const deploy = service && latestDeployStatus(db, service.id)
  return {
    number: preview.number,
    parentId: parent.id,
    status: statusOf(factsOf(context, parent, preview), deploy),
    title: preview.title,
    requestUrl: preview.url,
    branch: preview.headBranch,
    commitId: preview.headCommit,
    repository: preview.headRepository,
    fork: preview.isFork,
    ...(preview.approvedCommit !== null && { approvedCommitId: preview.approvedCommit }),
    ...(preview.deployedCommit !== null && { deployedCommitId: preview.deployedCommit }),
    ...(service !== undefined && { service: { id: service.id, name: service.name, url: urlOf(context, service.slug) } }),
    ...(preview.problem !== null && { problem: preview.problem }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
    createdAt: new Date(preview.createdAt).toISOString(),
    updatedAt: new Date(preview.updatedAt).toISOString(),
  }
}
