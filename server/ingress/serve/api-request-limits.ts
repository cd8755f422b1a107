import { forwardedClient } from '../../../shared/forwarded-client.ts'
import type { ClientSide } from '../exchange/exchange.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { createSeats, type Seats } from '../limits/connection-limits.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'

/**
 * Requests under way to the control plane. It has one peer for all of them, us, and cannot tell whose connections to end when there are too
 * many: so each client may have some, also one of those that a proxy speaks for.
 */
export class ApiSeats {
  readonly #seats: Seats
  readonly #isTrusted: (address: string) => boolean
  readonly #taken = new Map<RequestNote, string>()

  constructor({ maxApiRequestsPerAddress }: Pick<IngressLimits, 'maxApiRequestsPerAddress'>, isTrusted: (address: string) => boolean) {
    const limits = { maxConnections: Number.POSITIVE_INFINITY, maxConnectionsPerAddress: maxApiRequestsPerAddress }
    this.#seats = createSeats({ limits, isTrusted })
    this.#isTrusted = isTrusted
  }

  /** Whether there is room for the request; it is given back with `leave`. */
  take({ fields }: RequestHead, { address, isTrusted, note }: ClientSide): boolean {
    const forwarded = isTrusted ? fieldValue(fields, 'x-forwarded-for') : undefined
    const seat = this.#seats.take(forwardedClient(address, forwarded, this.#isTrusted))
    if (seat !== undefined) this.#taken.set(note, seat)
    return seat !== undefined
  }

  /** The request that this was noted of is over. */
  leave(note: RequestNote): void {
    const seat = this.#taken.get(note)
    if (seat === undefined) return
    this.#taken.delete(note)
    this.#seats.leave(seat)
  }
}
