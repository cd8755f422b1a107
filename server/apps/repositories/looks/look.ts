/** A look at the branch of a service makes up for pushes that nobody told of: their delivery was lost, or the host tells of none. */
import type { AppContext } from '../../context.ts'
import { newestDeploy } from '../../deploys/store.ts'
import { newestEventAt, recordEvent } from '../../events/store.ts'
import { type StoredService, serviceById } from '../../services/store.ts'
import { isTroubleTold, lookAt, putLook } from '../look-store.ts'
import { takePushFor } from '../push.ts'
import { isSameKnown, isShortlyAfter, type Known, newsOf, nextLookAt, reachNews, stateAfter } from './plan.ts'
import { followRename } from './renames.ts'
import { type Seen, seeBranch } from './see.ts'

export const isLookedAt = ({ labels, suspendedAt, deletedAt }: StoredService): boolean =>
  labels.repo !== '' && labels.autoDeployTrigger !== 'off' && suspendedAt === null && deletedAt === null

/** Looks where the branch stands and deploys what is new there. Returns when to look again (ms since 1970). @throws the signal's reason. */
export async function lookAtBranch(context: AppContext, service: StoredService, signal: AbortSignal): Promise<number> {
  const known = knownOf(context, service)
  const seen = await seeBranch(context, service, { known: [known.before?.commitId, known.newestCommit], signal })
  return context.db.transaction(() => conclude(context, service, { ...seen, known }))()
}

const knownOf = ({ db }: AppContext, service: StoredService): Known => ({
  before: lookAt(db, lookedAt(service)),
  wasTold: isTroubleTold(db, service.id),
  newestCommit: newestDeploy(db, service.id)?.commitId ?? null,
})

function conclude(context: AppContext, service: StoredService, { found, message, known }: Seen & { known: Known }): number {
  const { repo: repository, branch } = service.labels
  const now = context.now()
  // A push that was told while git looked may be newer than what it saw, which would be deployed after it.
  if (!isSameKnown(known, knownOf(context, service))) return now
  const current = serviceById(context.db, service.id)
  // The service may have been given another repository, or been deleted, while git looked.
  if (current?.labels.repo !== repository || current.labels.branch !== branch) return now
  if (found.kind === 'renamed') return goAfter(context, service, { url: found.url, known })
  const state = stateAfter(known, found, now)
  const nextAt = nextLookAt(now, { failures: state.failures, share: Math.random() })
  const news = newsOf(known, found)
  if (news !== 'none') {
    const commit = { commit: state.commitId ?? '', message, isDeleted: news === 'gone' }
    const push = { workspaceId: service.workspaceId, urls: [repository], branch, isDefaultBranch: branch === '', ...commit }
    takePushFor(context, current, { ...push, changedPaths: undefined, haveChecksPassed: false })
  }
  putLook(context.db, { ...state, ...lookedAt(service), nextAt })
  const reach = reachNews(known, state)
  if (reach !== undefined)
    recordEvent(context.db, {
      owner: current,
      type: reach,
      details: { repository, ...(state.problem !== null && { reason: state.problem }) },
      now,
    })
  return nextAt
}

/** A branch that was never seen has no failures to go by, so that the rename before says whether a host leads in circles. */
function goAfter(context: AppContext, service: StoredService, { url, known }: { url: string; known: Known }): number {
  const { db, now } = context
  const renamedAt = known.before === undefined ? newestEventAt(db, service.id, 'repository_renamed') : undefined
  if (renamedAt !== undefined && isShortlyAfter(renamedAt, now())) return nextLookAt(now(), { failures: 0, share: 0 })
  const moved = followRename(context, service, url)
  return moved === undefined ? now() : (lookAt(db, lookedAt(moved))?.nextAt ?? now())
}

const lookedAt = ({ id: serviceId, labels: { repo: repository, branch } }: StoredService) => ({ serviceId, repository, branch })
