import { AppError } from '../../../shared/error.ts'
import type { AppContext } from '../context.ts'
import { createDeploy } from '../deploys/operations.ts'
import { newestDeploy } from '../deploys/store.ts'
import { recordEvent } from '../events/store.ts'
import { type StoredService, servicesWithRepository } from '../services/store.ts'
import { noteCommit } from './look-store.ts'
import { type Push, type PushVerdict, planPush } from './push-plan.ts'
import { beginWait, endWait } from './wait-store.ts'

/** Has the services deploy that a push is for, and writes down why others do not. Belongs in a transaction. Returns whether anything came of it. */
export const takePush = (context: AppContext, push: Push): boolean =>
  servicesWithRepository(context.db, push.workspaceId)
    .map((service) => takePushFor(context, service, push))
    .includes(true)

/** Has one service deploy a push if it is for it. Belongs in a transaction. Returns whether anything came of it. */
export function takePushFor(context: AppContext, service: StoredService, push: Push): boolean {
  const newestCommit = newestDeploy(context.db, service.id)?.commitId ?? null
  const verdict = planPush(push, { ...service, newestCommit })
  carryOut(context, service, { push, verdict })
  if (verdict.kind === 'none') return false
  const { repo: repository, branch } = service.labels
  noteCommit(
    context.db,
    { serviceId: service.id, repository, branch },
    {
      commitId: push.isDeleted ? null : push.commit,
      now: context.now(),
    },
  )
  return true
}

function carryOut(context: AppContext, service: StoredService, { push, verdict }: { push: Push; verdict: PushVerdict }): void {
  switch (verdict.kind) {
    case 'deploy':
      endWait(context.db, service.id)
      deployCommit(context, service, push)
      return
    case 'wait':
      awaitChecks(context, service, push)
      return
    case 'ignore':
      ignoreCommit(context, service, { push, reason: verdict.reason })
      return
    case 'branch_deleted':
      endWait(context.db, service.id)
      record(context, service, { type: 'branch_deleted', details: { branch: push.branch } })
      return
    case 'none':
  }
}

function awaitChecks(context: AppContext, service: StoredService, push: Push): void {
  const { db, now, work } = context
  const { id: serviceId, labels } = service
  const { repo: repository, branch } = labels
  const { branch: pushedBranch, commit: commitId, message } = push
  if (beginWait(db, { serviceId, repository, branch, pushedBranch, commitId, message }, now()))
    record(context, service, { type: 'commit_waiting', details: { commitId, branch: pushedBranch } })
  work.poke('service', serviceId)
}

/** What the service may not do now is no reason to refuse what concerns others. */
function deployCommit(context: AppContext, service: StoredService, push: Push): void {
  try {
    createDeploy(context, service, { trigger: 'new_commit', commitId: push.commit, commitMessage: push.message })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    ignoreCommit(context, service, { push, reason: error.message })
  }
}

/** Writes down why a commit is not deployed; belongs in the transaction that decided it. */
export const ignoreCommit = (
  context: AppContext,
  service: StoredService,
  { push, reason }: { push: Pick<Push, 'commit' | 'branch'>; reason: string },
): void => record(context, service, { type: 'commit_ignored', details: { commitId: push.commit, branch: push.branch, reason } })

function record(
  { db, now }: AppContext,
  service: StoredService,
  { type, details }: { type: 'commit_ignored' | 'commit_waiting' | 'branch_deleted'; details: Record<string, string> },
): void {
  recordEvent(db, { owner: service, type, details, now: now() })
}
