import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'

/** How long a browser may remember the answer to a preflight. */
const MAX_AGE_SECONDS = 600
const readableHeaders = 'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed'
const acceptedHeaders = 'Authorization, Content-Type, Idempotency-Key, X-Workspace-Id'

/**
 * What pages of other origins may do: those on the list may send API keys and read the answers. Cookies are never let through, as
 * `Access-Control-Allow-Credentials` is never sent: a page elsewhere acts with the key it was given, not as whoever looks at it.
 */
export interface CorsRules {
  /** Headers of every answer to this request. */
  headersFor(request: Request): Record<string, string>
  /** Headers of the answer to a preflight. @throws AppError `forbidden` for an origin that is not on the list. */
  preflight(request: Request, methods: readonly Operation['method'][]): Record<string, string>
}

/** The rules for a list of origins; undefined for an empty one: nothing is said of other origins then, so browsers refuse them. */
export function createCorsRules(origins: readonly string[]): CorsRules | undefined {
  if (origins.length === 0) return undefined
  const allowed = new Set(origins)
  // Caches must not hand one origin what was answered to another, so all answers say it, also those to no origin.
  const others = { Vary: 'Origin' }
  return {
    headersFor({ headers }) {
      const origin = headers.get('origin')
      if (origin === null || !allowed.has(origin)) return others
      return { ...others, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': readableHeaders }
    },
    preflight({ headers }, methods) {
      if (!allowed.has(headers.get('origin') ?? ''))
        throw new AppError(
          'forbidden',
          'Pages of this origin may not call this server. The operator lists those that may in CP_CORS_ORIGINS.',
        )
      return {
        'Access-Control-Allow-Methods': methods.join(', '),
        'Access-Control-Allow-Headers': acceptedHeaders,
        'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      }
    },
  }
}
