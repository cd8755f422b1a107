/**
 * The end of a push. Its refs move when its deploy is live and stay where they are when it is not, whether or not its client waits, and also
 * where a deploy ends under another control plane than the one that took the push: all that is needed stands in its row.
 */
import { AppError } from '../../../../shared/error.ts'
import { describeError } from '../../../platform/server-log.ts'
import { pause } from '../../../platform/work/clock.ts'
import type { AppContext, PushWork, RefOutcome } from '../../context.ts'
import { deployById, type StoredDeploy } from '../../deploys/store.ts'
import { serviceById } from '../../services/store.ts'
import type { RefUpdate } from '../protocol/commands.ts'
import { planRefs } from '../refs/rules.ts'
import { openPushes, pushById, pushOfService, removePush, type StoredPush } from '../refs/store.ts'
import type { Repository } from '../repository/command.ts'
import { dropRefs, moveRefs, pendingOf, readRefs, repositoryOf } from '../repository/repository.ts'

const LOOK_MS = 50
const RETRY_MS = 2000
const MOST_ATTEMPTS = 10

export interface RunningPushes extends PushWork {
  start(): void
  settled(): Promise<void>
}

export function createPushWork(contextOf: () => AppContext): RunningPushes {
  const turns = new Set<string>()
  const running = new Map<string, Promise<readonly RefOutcome[]>>()
  const work: RunningPushes = {
    enter(serviceId) {
      const open = pushOfService(contextOf().db, serviceId)
      if (open !== undefined || turns.has(serviceId)) throw busy(open)
      turns.add(serviceId)
      return () => void turns.delete(serviceId)
    },
    conclude(pushId) {
      const begun = running.get(pushId) ?? untilConcluded(contextOf(), pushId).finally(() => running.delete(pushId))
      running.set(pushId, begun)
      // Whoever waits for it hears of a failure; nobody has to.
      begun.catch(() => {})
      return begun
    },
    start() {
      for (const { id } of openPushes(contextOf().db)) void work.conclude(id)
    },
    settled: async () => void (await Promise.allSettled(running.values())),
  }
  return work
}

function busy(open: StoredPush | undefined): AppError {
  const which = open?.deployId == null ? '' : `, whose deploy ${open.deployId} is under way`
  return new AppError('conflict', `Another push to this service came before${which}. Push again when it has ended.`)
}

/** A repository that git cannot read does not hold up later pushes for ever: what is given up goes with the next of them. */
async function untilConcluded(context: AppContext, pushId: string): Promise<readonly RefOutcome[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await conclude(context, pushId)
    } catch (error) {
      context.stopping.throwIfAborted()
      context.log.error('push not concluded', { pushId, attempt, ...describeError(error) })
      if (attempt === MOST_ATTEMPTS) return giveUp(context, pushId)
      await pause(context, RETRY_MS, context.stopping)
    }
  }
}

function giveUp({ db }: AppContext, pushId: string): RefOutcome[] {
  const updates = pushById(db, pushId)?.updates ?? []
  removePush(db, pushId)
  return updates.map(({ ref }) => ({ ref, refusal: 'the repository cannot be written: the log of the server says why' }))
}

async function conclude(context: AppContext, pushId: string): Promise<readonly RefOutcome[]> {
  const push = pushById(context.db, pushId)
  const service = push && serviceById(context.db, push.serviceId)
  if (push === undefined || service === undefined) return []
  const repository = repositoryOf(context.paths, service)
  const refs = await readRefs(repository, context.stopping)
  const at = { repository, refs, signal: context.stopping }
  const isWaiting = ({ ref }: { ref: string }) => ref === push.waitingRef
  const early = await move(
    at,
    push.updates.filter((update) => !isWaiting(update)),
  )
  const late = await follow(context, at, { push, waiting: push.updates.filter(isWaiting) })
  removePush(context.db, push.id)
  return [...early, ...late]
}

interface Place {
  repository: Repository
  /** Where its refs point: nothing else moves them before the push is concluded. */
  refs: ReadonlyMap<string, string>
  signal: AbortSignal
}

/** Moves what waited for the deploy, and lets go of what the push has brought, in one step where both can be done. */
async function follow(
  context: AppContext,
  at: Place,
  { push, waiting }: { push: StoredPush; waiting: StoredPush['updates'] },
): Promise<readonly RefOutcome[]> {
  const pending = pendingOf(at.refs, push.id)
  const refusal = push.deployId === null ? undefined : refusalBy(await endOf(context, push.deployId))
  if (refusal === undefined) return await move(at, waiting, pending)
  await dropRefs(at.repository, pending, at.signal)
  return waiting.map(({ ref }) => ({ ref, refusal }))
}

async function endOf(context: AppContext, deployId: string): Promise<StoredDeploy | undefined> {
  for (;;) {
    const deploy = deployById(context.db, deployId)
    if (deploy === undefined || deploy.finishedAt !== null) return deploy
    await pause(context, LOOK_MS, context.stopping)
  }
}

function refusalBy(deploy: StoredDeploy | undefined): string | undefined {
  if (deploy === undefined) return 'deploy failed: the service was deleted'
  const { status, reason } = deploy
  if (status === 'live' || status === 'deactivated') return undefined
  return `deploy ${status === 'canceled' ? 'canceled' : 'failed'}: ${reason ?? status}`
}

async function move(
  { repository, refs, signal }: Place,
  updates: StoredPush['updates'],
  pending: readonly RefUpdate[] = [],
): Promise<readonly RefOutcome[]> {
  const { due, refused } = planRefs(updates, refs)
  const problem = await moveRefs(repository, [...due, ...pending], signal)
  if (problem !== undefined) await dropRefs(repository, pending, signal)
  const isRefused = (ref: string) => refused.some((outcome) => outcome.ref === ref)
  const isDue = (ref: string) => due.some((update) => update.ref === ref)
  return [
    ...refused,
    ...updates
      .filter(({ ref }) => !isRefused(ref))
      .map(({ ref }) => (problem !== undefined && isDue(ref) ? { ref, refusal: problem } : { ref })),
  ]
}
