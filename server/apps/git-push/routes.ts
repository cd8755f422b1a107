import { AppError } from '../../../shared/error.ts'
import { isId } from '../../../shared/id.ts'
import { type Operations, operations } from '../../../shared/operations/all.ts'
import { requireAccess } from '../../http/access/authenticate.ts'
import type { Actor, Call, Handlers } from '../../http/handlers/call.ts'
import { requirePlace } from '../../identity/quotas/enforce.ts'
import { requireProtectedRight } from '../../identity/scopes/protection.ts'
import { createLeases, type Leases } from '../../platform/work/leases.ts'
import type { AppContext } from '../context.ts'
import { requireGit } from '../git/hardened.ts'
import { requireService } from '../services/require.ts'
import { type StoredService, serviceIdNamed } from '../services/store.ts'
import { advertise, answerFetch, type GitService } from './fetch.ts'
import { type PushHead, readHead } from './protocol/commands.ts'
import { FLUSH } from './protocol/pkt-line.ts'
import { type Accepted, acceptPush, type Incoming } from './pushes/accept.ts'
import { discard, MAX_DISCARDED_BYTES } from './pushes/send.ts'
import { tellPush } from './pushes/tell.ts'
import { isPushable } from './refs/rules.ts'
import { bodyOf, streamOf } from './streams.ts'

type GitIds = Extract<keyof Operations, 'gitInfoRefs' | 'gitUploadPack' | 'gitReceivePack'>
type PushCall = Call<Operations['gitReceivePack']>

const MIB = 1024 * 1024
const MAX_ASKED_BYTES = 16 * MIB
/** Programs of git that run for clients at once: those that tell refs are short, and those that pack objects are not. */
const QUESTIONS = { perWorkspace: 32, inAll: 64 }
const FETCHES = { perWorkspace: 8, inAll: 32 }

const answerOf = (
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  service: GitService,
  what: 'advertisement' | 'result',
): Response => new Response(body, { headers: { 'Content-Type': `application/x-${service}-${what}` } })

export function createGitRoutes(context: AppContext): Handlers<GitIds, AppContext> {
  const [questions, fetches] = [createLeases(), createLeases()]
  return {
    async gitInfoRefs({ actor, params, query, request, signal }) {
      const service = serviceAt(context, actor, params.serviceId)
      if (query.service === 'git-receive-pack') requireAccess(actor, operations.gitReceivePack)
      else requireProtectedRight(context.db, actor, service.environmentId)
      const leave = takeOne(questions, service.workspaceId, QUESTIONS)
      try {
        return answerOf(await advertise(context, { service, request, signal }, query.service), query.service, 'advertisement')
      } finally {
        leave()
      }
    },

    async gitUploadPack({ actor, params, request, signal, note }) {
      const service = serviceAt(context, actor, params.serviceId)
      const body = bodyOf(request, { type: 'application/x-git-upload-pack-request', maxBytes: MAX_ASKED_BYTES })
      const first = await body.next()
      requireGit()
      note({ isUnchanged: true })
      const leave = takeOne(fetches, service.workspaceId, FETCHES)
      const pieces = answerFetch(context, { service, request, signal }, rejoined(first, body))
      return answerOf(streamOf(pieces, leave), 'git-upload-pack', 'result')
    },

    async gitReceivePack(call) {
      const service = serviceAt(context, call.actor, call.params.serviceId)
      const maxBytes = context.config.CP_GIT_MAX_MB * MIB
      const body = bodyOf(call.request, { type: 'application/x-git-receive-pack-request', maxBytes: maxBytes + MAX_DISCARDED_BYTES })
      const { head, rest } = await readHead(body)
      // An empty one is how git finds out whether it is let in before it sends much.
      if (head.updates.length === 0) {
        call.note({ isUnchanged: true })
        return answerOf(new Uint8Array(FLUSH), 'git-receive-pack', 'result')
      }
      return await push(context, call, { service, head, rest, body })
    },
  }
}

/** The service that an address names, by its id or its name in the workspace, with `.git` behind or without. */
function serviceAt(context: AppContext, actor: Actor, named: string): StoredService {
  const name = named.replace(/\.git$/, '')
  const id = isId('service', name) ? name : serviceIdNamed(context.db, actor.workspaceId, name)
  return requireService(context, actor, id ?? name)
}

function takeOne(leases: Leases, workspaceId: string, { perWorkspace, inAll }: typeof FETCHES): () => void {
  if (leases.countOf(workspaceId) < perWorkspace && leases.total() < inAll) return leases.take(workspaceId)
  throw new AppError('rate_limited', 'Too many fetch or push at once. Try again in a few seconds.', { retryAfterSeconds: 5 })
}

async function* rejoined(first: IteratorResult<Uint8Array>, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.done) return
  yield first.value
  yield* rest
}

interface Received {
  service: StoredService
  head: PushHead
  rest: Uint8Array
  body: AsyncGenerator<Uint8Array>
}

async function push(context: AppContext, call: PushCall, received: Received): Promise<Response> {
  const { service, head } = received
  const fromSeq = context.logStore.nextSeq()
  const accepted = await accept(context, call, received)
  if (accepted.push === undefined) call.note({ isUnchanged: true })
  // The refs follow the deploy whether or not the client stays to hear of it.
  const concluded = accepted.push === undefined ? Promise.resolve([]) : context.work.pushes.conclude(accepted.push.id)
  const told = tellPush(context, { service, accepted, concluded, capabilities: head.capabilities, fromSeq })
  return answerOf(streamOf(told), 'git-receive-pack', 'result')
}

const hidden: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'not_found', 'not_configured', 'internal'])

/** What is refused here is told ref by ref: of an answer with another status git shows the number alone. */
async function accept(context: AppContext, call: PushCall, received: Received): Promise<Accepted> {
  const { service, head, body } = received
  const leaves: (() => void)[] = []
  try {
    requirePlace(context, service.workspaceId, 'uploads')
    leaves.push(context.work.pushes.enter(service.id), context.uploads.take(service.workspaceId))
    return await acceptPush(context, { ...received, ...waysOf(call, received) })
  } catch (error) {
    if (!(error instanceof AppError) || hidden.has(error.code)) throw error
    await discard(body)
    return { progress: '', outcomes: head.updates.map(({ ref }) => ({ ref, refusal: error.message })) }
  } finally {
    for (const leave of leaves) leave()
  }
}

const MOST_NOTED = 20

const waysOf = (call: PushCall, { service, head }: Received): Pick<Incoming, 'signal' | 'requireRight' | 'change'> => ({
  signal: call.signal,
  requireRight: call.requireRight,
  change: (apply) =>
    call.change(() => {
      call.note({ target: service.id, metadata: { updates: head.updates.filter(({ ref }) => isPushable(ref)).slice(0, MOST_NOTED) } })
      return apply()
    }),
})
