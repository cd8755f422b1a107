/** A look at the branch of a service makes up for pushes that nobody told of: their delivery was lost, or the host tells of none. */
import type { AppContext } from '../../context.ts'
import { newestDeploy } from '../../deploys/store.ts'
import { type StoredService, serviceById } from '../../services/store.ts'
import { lookAt, putLook } from '../look-store.ts'
import { takePushFor } from '../push.ts'
import { isSameKnown, type Known, newsOf, nextLookAt, stateAfter } from './plan.ts'
import { type Seen, seeBranch } from './see.ts'

export const isLookedAt = ({ labels, suspendedAt, deletedAt }: StoredService): boolean =>
  labels.repo !== '' && labels.autoDeployTrigger !== 'off' && suspendedAt === null && deletedAt === null

/** Looks where the branch stands and deploys what is new there. Returns when to look again (ms since 1970). @throws the signal's reason. */
export async function lookAtBranch(context: AppContext, service: StoredService, signal: AbortSignal): Promise<number> {
  const known = knownOf(context, service)
  const seen = await seeBranch(context, service, { known: [known.before?.commitId, known.newestCommit], signal })
  return context.db.transaction(() => conclude(context, service, { ...seen, known }))()
}

function knownOf({ db }: AppContext, { id: serviceId, labels: { repo: repository, branch } }: StoredService): Known {
  return { before: lookAt(db, { serviceId, repository, branch }), newestCommit: newestDeploy(db, serviceId)?.commitId ?? null }
}

function conclude(context: AppContext, service: StoredService, { found, message, known }: Seen & { known: Known }): number {
  const { repo: repository, branch } = service.labels
  // A push that was told while git looked may be newer than what it saw, which would be deployed after it.
  if (!isSameKnown(known, knownOf(context, service))) return context.now()
  const state = stateAfter(known, found)
  const nextAt = nextLookAt(context.now(), { failures: state.failures, share: Math.random() })
  const current = serviceById(context.db, service.id)
  // The service may have been given another repository, or been deleted, while git looked.
  if (current?.labels.repo !== repository || current.labels.branch !== branch) return context.now()
  const news = newsOf(known, found)
  if (news !== 'none') {
    const commit = { commit: state.commitId ?? '', message, isDeleted: news === 'gone' }
    const push = { workspaceId: service.workspaceId, urls: [repository], branch, isDefaultBranch: branch === '', ...commit }
    takePushFor(context, current, { ...push, changedPaths: undefined, haveChecksPassed: false })
  }
  putLook(context.db, { ...state, serviceId: service.id, repository, branch, nextAt })
  return nextAt
}
