import { AppError } from '../../../shared/error.ts'
import type { Operation } from '../../../shared/operation.ts'

const MAX_AGE_SECONDS = 600
const readableHeaders =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Idempotent-Replayed, X-Unavailable-Installations'
const acceptedHeaders = 'Authorization, Content-Type, Idempotency-Key, X-Workspace-Id'

/** Rules for pages of other origins. `Access-Control-Allow-Credentials` is never sent: a page elsewhere acts with the key it was given. */
export interface CorsRules {
  headersFor(request: Request): Record<string, string>
  /** @throws AppError `forbidden` for an origin that is not on the list. */
  preflight(request: Request, methods: readonly Operation['method'][]): Record<string, string>
}

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
