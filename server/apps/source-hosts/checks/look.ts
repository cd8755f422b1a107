import type { Database } from 'bun:sqlite'
import { AppError } from '../../../../shared/error.ts'
import type { AppContext } from '../../context.ts'
import { newestDeploy } from '../../deploys/store.ts'
import { lookAt } from '../../repositories/look-store.ts'
import { ignoreCommit, takePushFor } from '../../repositories/push.ts'
import { type CheckWait, changeWait, endWait, waitOf } from '../../repositories/wait-store.ts'
import { type StoredService, serviceById } from '../../services/store.ts'
import { locate } from '../hosts/credential.ts'
import { ifConfigured } from '../hosts/open.ts'
import { pauseAfterError, pausedUntil } from '../store/pauses.ts'
import { type SeenChecks, stepAfter } from './plan.ts'

/**
 * Looks at the checks of the commit that a service waits for, and does what they lead to. Returns when to look again (ms since 1970). One that
 * is suspended goes on to wait when it is resumed.
 */
export async function lookAtChecks(context: AppContext, serviceId: string): Promise<number | undefined> {
  const { db, now } = context
  const wait = waitOf(db, serviceId)
  const service = serviceById(db, serviceId)
  if (wait === undefined || service === undefined) return undefined
  if (isOff(service, wait)) endWait(db, serviceId)
  if (isOff(service, wait) || service.suspendedAt !== null) return undefined
  if (wait.nextLookAt > now()) return wait.nextLookAt
  const seen = await seeChecks(context, service, wait)
  return db.transaction(() => conclude(context, wait, seen))()
}

/** Whether the service follows something else by now, or nothing, or goes by no checks, which are no reason then to deploy what has failed them. */
const isOff = ({ labels, deletedAt }: StoredService, { repository, branch, failedAt }: CheckWait): boolean =>
  deletedAt !== null ||
  labels.repo !== repository ||
  labels.branch !== branch ||
  labels.autoDeployTrigger === 'off' ||
  (failedAt !== null && labels.autoDeployTrigger !== 'checksPass')

async function seeChecks(context: AppContext, { workspaceId, labels }: StoredService, wait: CheckWait): Promise<SeenChecks> {
  const { db, now, stopping: signal } = context
  if (labels.autoDeployTrigger === 'commit') return { state: 'passed' }
  const located = ifConfigured(() => locate(context, workspaceId, wait.repository))
  if (located === undefined) return { state: 'nobody' }
  const { host, name, installation } = located
  const restsUntil = pausedUntil(db, installation.id)
  if (restsUntil > now()) return { state: 'unreachable', problem: 'The host does not answer, or limits the rate.', restsUntil }
  try {
    return await host.checksOf(name, wait.commitId, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof AppError)) throw error
    pauseAfterError(db, installation.id, { error, now: now() })
    return { state: 'unreachable', problem: error.message, restsUntil: pausedUntil(db, installation.id) }
  }
}

function conclude(context: AppContext, wait: CheckWait, seen: SeenChecks): number | undefined {
  const { db, now } = context
  const service = serviceById(db, wait.serviceId)
  const current = waitOf(db, wait.serviceId)
  if (service === undefined || current === undefined) return undefined
  // Another push may have taken its place while the host answered.
  if (current.commitId !== wait.commitId || isOff(service, wait)) return now()
  if (service.suspendedAt !== null) return undefined
  const step = stepAfter(current, seen, now())
  const { commitId: commit, pushedBranch: branch } = current
  if (step.do === 'wait') {
    changeWait(db, current, step.change)
    if (step.told !== undefined) ignoreCommit(context, service, { push: { commit, branch }, reason: step.told })
    return step.change.nextLookAt
  }
  endWait(db, wait.serviceId)
  if (step.do === 'ignore') ignoreCommit(context, service, { push: { commit, branch }, reason: step.reason })
  if (step.do === 'deploy' && isWanted(db, service, current)) deployAwaited(context, service, current)
  return undefined
}

/** Whether nobody has deployed anything since a check failed, and the commit is still where its branch stands. */
function isWanted(db: Database, service: StoredService, { failedAt, commitId, repository, branch }: CheckWait): boolean {
  if (failedAt === null) return true
  const deployedAt = newestDeploy(db, service.id)?.createdAt ?? 0
  return deployedAt < failedAt && lookAt(db, { serviceId: service.id, repository, branch })?.commitId === commitId
}

function deployAwaited(
  context: AppContext,
  service: StoredService,
  { commitId: commit, pushedBranch: branch, message, repository }: CheckWait,
) {
  takePushFor(context, service, { ...pushAgain, workspaceId: service.workspaceId, urls: [repository], branch, commit, message })
}

/** The build filter has let it through already. A service without a branch follows the default one, which it was pushed to. */
const pushAgain = { isDefaultBranch: true, changedPaths: undefined, isDeleted: false, haveChecksPassed: true }
