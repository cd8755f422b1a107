import { AppError } from '../../../shared/error.ts'
import { networkOf } from '../../platform/network/network-of.ts'
import type { ReplyHead } from '../answers/respond.ts'
import type { RateState } from '../limits/rate-limit.ts'
import type { Counted } from '../limits/rate-limits.ts'
import type { HttpParts } from './parts.ts'

export interface RequestContext {
  readonly request: Request
  readonly requestId: string
  readonly parts: HttpParts
  address(): string
  /** Counts the request once, against its credential or else its address. @throws AppError `rate_limited`. */
  count(request: Omit<Counted, 'address'>): void
  head(): ReplyHead
}

export const uncredited: Omit<Counted, 'address'> = { class: 'read', credential: undefined }

/** Whatever costs anything, the address and the limit of a request, is looked up when it is asked for. */
export function openRequest(request: Request, parts: HttpParts): RequestContext {
  let address: string | undefined
  let rate: RateState | undefined
  const requestId = crypto.randomUUID()
  const readAddress = () => {
    address ??= parts.addressOf(parts.server()?.requestIP(request)?.address, request.headers)
    return address
  }
  const addressed = () => `address:${networkOf(readAddress())}`
  return {
    request,
    requestId,
    parts,
    address: readAddress,
    count(counted) {
      rate = parts.limits.take({ ...counted, address: addressed })
      const { retryAfterSeconds } = rate
      if (retryAfterSeconds === undefined) return
      throw new AppError('rate_limited', `Too many requests. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds })
    },
    head() {
      rate ??= parts.limits.peek({ credential: undefined, address: addressed })
      return { requestId, rate, isHttps: parts.isHttps, cors: parts.cors?.headersFor(request) }
    },
  }
}
