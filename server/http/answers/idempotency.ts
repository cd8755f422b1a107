import { createHash } from 'node:crypto'
import { AppError } from '../../../shared/error.ts'

export interface StoredAnswer {
  status: number
  body: string
}

export interface IdempotentRequest {
  /** Workspace, kind and id of the actor, and operation: the same key elsewhere is another key. */
  scope: string
  key: string
  requestHash: string
}

/** Remembers first answers for 24 hours. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): 'begun' | 'running' | 'other_request' | StoredAnswer
  finish(request: IdempotentRequest, answer: StoredAnswer): void
  /** Frees the key of a request that failed before its change was made, so that it can be tried again. */
  abandon(request: IdempotentRequest): void
}

export const idempotencyKeyPattern = '^[!-~]{1,255}$'
const keyPattern = new RegExp(idempotencyKeyPattern)

/** The key of a request, if it sends one. @throws AppError `bad_request` for a key that is no visible ASCII text. */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (!keyPattern.test(key)) throw new AppError('bad_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  return key
}

/** A streamed upload is told apart by its type and length only, because it is not read before the key is looked up. */
export function requestHashOf(request: Request, body: unknown): string {
  const url = new URL(request.url)
  const streamed = [request.headers.get('content-type'), request.headers.get('content-length')]
  const content = body === undefined ? streamed : body
  return createHash('sha256')
    .update(JSON.stringify([request.method, url.pathname, url.search, content]))
    .digest('hex')
}

/** Does `work` once for each key; a failure is forgotten. @throws AppError `conflict` for another request's key, or one that is running. */
export async function answerOnce(
  store: IdempotencyStore,
  request: IdempotentRequest,
  work: () => Promise<StoredAnswer>,
): Promise<StoredAnswer & { isReplayed: boolean }> {
  const earlier = store.begin(request)
  if (earlier === 'other_request') throw new AppError('conflict', 'This Idempotency-Key was used with another request. Use a new key.')
  if (earlier === 'running')
    throw new AppError('conflict', 'The first request with this Idempotency-Key is still running. Try again shortly.')
  if (earlier !== 'begun') return { ...earlier, isReplayed: true }
  try {
    const answer = await work()
    store.finish(request, answer)
    return { ...answer, isReplayed: false }
  } catch (error) {
    store.abandon(request)
    throw error
  }
}
