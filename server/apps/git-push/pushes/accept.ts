import { randomUUID } from 'node:crypto'
import { whileThereIsRoom } from '../../../runtime/space/room.ts'
import type { AppContext, RefOutcome } from '../../context.ts'
import { createDeploy } from '../../deploys/operations.ts'
import { isSkipped } from '../../repositories/push-plan.ts'
import { requireService } from '../../services/require.ts'
import type { StoredService } from '../../services/store.ts'
import { NO_OBJECT, type PushHead, type RefUpdate } from '../protocol/commands.ts'
import { branchRef, deployBranchOf, isPending, refusalsOf, remarksOn } from '../refs/rules.ts'
import { insertPush, keepBranch, repositoryRow } from '../refs/store.ts'
import type { Repository } from '../repository/command.ts'
import { type Commit, ensureRepository, moveRefs, pendingRef, readCommit, readRefs, setHead } from '../repository/repository.ts'
import { clearIncoming, makeRoom } from '../repository/tend.ts'
import { discard, sendToGit } from './send.ts'
import { sourceOfCommit } from './source.ts'

const MIB = 1024 * 1024

export interface Incoming {
  service: StoredService
  head: PushHead
  rest: Uint8Array
  body: AsyncIterator<Uint8Array>
  signal: AbortSignal
  requireRight(): Parameters<typeof requireService>[1]
  change<T>(apply: () => T): T
}

export interface Accepted {
  outcomes: readonly RefOutcome[]
  unpackProblem?: string
  progress: string
  push?: { id: string; deployId: string | undefined }
}

export async function acceptPush(context: AppContext, incoming: Incoming): Promise<Accepted> {
  const { service, signal } = incoming
  const repository = await ensureRepository(context, service, signal)
  const [refs] = await Promise.all([clearedRefs(repository, signal), clearIncoming(repository, signal)])
  const { updates } = incoming.head
  const kept = repositoryRow(context.db, service.id)?.branch ?? null
  const branch = deployBranchOf({ configured: service.labels.branch || null, kept, updates })
  const refusals = refusalsOf(updates, { refs, branch })
  const pushId = randomUUID()
  const taking = { ...incoming, repository, pushId, wanted: updates.filter(({ ref }) => !refusals.has(ref)) }
  const taken = await takeObjects(context, taking).catch(async (error: unknown) => {
    await clearIncoming(repository, context.stopping)
    throw error
  })
  for (const [ref, refusal] of taken.refusals) refusals.set(ref, refusal)
  const accepted = updates.filter(({ ref }) => !refusals.has(ref))
  const outcomes = [...refusals].map(([ref, refusal]) => ({ ref, refusal }))
  const said = { outcomes, progress: taken.progress, ...(taken.unpackProblem !== undefined && { unpackProblem: taken.unpackProblem }) }
  if (accepted.length === 0) return said
  if (branch !== undefined && branch !== kept) {
    keepBranch(context.db, service.id, branch)
    await setHead(repository, branchRef(branch), signal)
  }
  const begun = await begin(context, { ...incoming, repository, pushId, accepted, branch })
  return { ...said, push: { id: pushId, deployId: begun.deployId }, progress: [said.progress, ...begun.remarks].filter(Boolean).join('\n') }
}

async function clearedRefs(repository: Repository, signal: AbortSignal): Promise<Map<string, string>> {
  const refs = await readRefs(repository, signal)
  const left = [...refs].filter(([ref]) => isPending(ref))
  await moveRefs(
    repository,
    left.map(([ref, from]) => ({ ref, from, to: NO_OBJECT })),
    signal,
  )
  return refs
}

interface Taking extends Incoming {
  repository: Repository
  pushId: string
  wanted: readonly RefUpdate[]
}

interface Taken {
  refusals: Map<string, string>
  progress: string
  unpackProblem?: string
}

async function takeObjects(context: AppContext, taking: Taking): Promise<Taken> {
  const { head, repository, pushId, wanted, signal } = taking
  const objects = wanted.filter(({ to }) => to !== NO_OBJECT)
  if (objects.length === 0) {
    await discard(taking.body)
    return { refusals: new Map(), progress: '' }
  }
  const pending = objects.map(({ to }, index) => ({ ref: pendingRef(pushId, index), from: NO_OBJECT, to }))
  const room = { what: 'the push', advice: 'Its operator has to free some; nothing was kept.' }
  const report = await whileThereIsRoom(context, room, async (short) => {
    const limit = AbortSignal.any([signal, short])
    const maxBytes = await makeRoom(repository, context.config.CP_GIT_MAX_MB * MIB, limit)
    return await sendToGit(repository, { ...taking, head: { ...head, updates: pending }, maxBytes, signal: limit })
  })
  const reasonOf = (index: number) => {
    const outcome = report.outcomes.find(({ ref }) => ref === pending[index]?.ref)
    return outcome === undefined ? 'the objects were not taken' : outcome.refusal
  }
  const refused = objects.flatMap(({ ref }, index): [string, string][] => {
    const reason = report.unpackProblem === undefined ? reasonOf(index) : 'the objects were not taken'
    return reason === undefined ? [] : [[ref, reason === 'shallow update not allowed' ? SHALLOW : reason]]
  })
  return {
    refusals: new Map(refused),
    progress: report.progress.toString('utf8').trim(),
    ...(report.unpackProblem !== undefined && { unpackProblem: report.unpackProblem }),
  }
}

const SHALLOW = 'its history is cut off: fetch all of it first (git fetch --unshallow)'

interface Beginning extends Incoming {
  repository: Repository
  pushId: string
  accepted: readonly RefUpdate[]
  branch: string | undefined
}

interface Begun {
  deployId: string | undefined
  remarks: string[]
}

async function begin(context: AppContext, beginning: Beginning): Promise<Begun> {
  const { repository, accepted, branch, signal, change } = beginning
  const remarks = remarksOn(accepted, branch)
  const update = accepted.find(({ ref, to }) => branch !== undefined && ref === branchRef(branch) && to !== NO_OBJECT)
  const commit = update && (await readCommit(repository, update.to, signal))
  if (update === undefined || commit === undefined || isSkipped(commit.commitMessage ?? '')) {
    if (commit !== undefined) remarks.push('The message of the commit asks for it: it is kept, and nothing is deployed.')
    change(() => writeDown(context, beginning, {}))
    return { deployId: undefined, remarks }
  }
  if (commit.hasSubmodules) remarks.push('Submodules are not fetched: their folders stay empty.')
  const deployId = await deployCommit(context, beginning, { commit, ref: update.ref })
  return { deployId, remarks: [...remarks, `Deploying ${commit.commitId.slice(0, 7)} (${deployId})`] }
}

function deployCommit(context: AppContext, beginning: Beginning, { commit, ref }: { commit: Commit; ref: string }): Promise<string> {
  const { service, repository, requireRight, change, signal } = beginning
  return sourceOfCommit(context, {
    ...{ repository, service, signal, change, from: commit },
    requireRight,
    onKept(source) {
      const current = requireService(context, requireRight(), service.id)
      const { id } = createDeploy(context, current, { sourceId: source.id, trigger: 'new_commit' })
      writeDown(context, beginning, { deployId: id, waitingRef: ref })
      return id
    },
  })
}

function writeDown(
  context: AppContext,
  { service, pushId, accepted }: Beginning,
  { deployId = null, waitingRef = null }: { deployId?: string | null; waitingRef?: string | null },
): void {
  insertPush(context.db, { id: pushId, serviceId: service.id, deployId, waitingRef, updates: accepted, createdAt: context.now() })
}
