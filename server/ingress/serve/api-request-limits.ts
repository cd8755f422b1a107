import { forwardedClient } from '../../../shared/forwarded-client.ts'
import type { ClientSide } from '../exchange/exchange.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { type ConnectionLimits, createConnectionLimits } from '../limits/connection-limits.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'

/**
 * Requests under way to the control plane. It has one peer for all of them, us, and cannot tell whose connections to end when there are too
 * many: so each client may have some, also one of those that a proxy speaks for.
 */
export class ApiRequestLimits {
  readonly #limits: ConnectionLimits
  readonly #isTrusted: (address: string) => boolean
  readonly #taken = new Map<RequestNote, string>()

  constructor({ maxApiRequestsPerAddress }: Pick<IngressLimits, 'maxApiRequestsPerAddress'>, isTrusted: (address: string) => boolean) {
    const limits = { maxConnections: Number.POSITIVE_INFINITY, maxConnectionsPerAddress: maxApiRequestsPerAddress }
    this.#limits = createConnectionLimits({ limits, isTrusted })
    this.#isTrusted = isTrusted
  }

  admit({ fields }: RequestHead, { address, isTrusted, note }: ClientSide): boolean {
    const forwarded = isTrusted ? fieldValue(fields, 'x-forwarded-for') : undefined
    const key = this.#limits.admit(forwardedClient(address, forwarded, this.#isTrusted))
    if (key !== undefined) this.#taken.set(note, key)
    return key !== undefined
  }

  release(note: RequestNote): void {
    const key = this.#taken.get(note)
    if (key === undefined) return
    this.#taken.delete(note)
    this.#limits.release(key)
  }
}
