import { addressKey } from './client-address.ts'
import type { HttpParts } from './parts.ts'
import type { RateState } from './rate-limit.ts'
import type { ReplyHead } from './respond.ts'

/** One request on its way through: its id, where it comes from, and whose limit it counts against. */
export interface Visit {
  readonly request: Request
  readonly requestId: string
  readonly parts: HttpParts
  /** Address of the client; a forwarded one only when a trusted proxy says so. */
  address(): string
  /** Counts the request once, against a credential or else against its address. @throws AppError `rate_limited`. */
  count(key: string | undefined): void
  head(): ReplyHead
}

export function openVisit(request: Request, parts: HttpParts): Visit {
  let address: string | undefined
  let rate: RateState | undefined
  let rateKey: string | undefined
  const requestId = crypto.randomUUID()
  const readAddress = () => {
    address ??= parts.addressOf(parts.server()?.requestIP(request)?.address, request.headers)
    return address
  }
  return {
    request,
    requestId,
    parts,
    address: readAddress,
    count(key) {
      rateKey = key ?? `address:${addressKey(readAddress())}`
      rate = parts.limiter.take(rateKey)
    },
    head() {
      rate ??= parts.limiter.peek(rateKey ?? `address:${addressKey(readAddress())}`)
      return { requestId, rate, isHttps: parts.isHttps }
    },
  }
}
