import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { respond } from '../exchange/respond.ts'
import { type Deadlined, NEVER } from '../limits/deadlines.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'

export interface Holdable {
  head: RequestHead
  client: ClientSide
  serviceId: string
  name: string
  answer(): Exchange | undefined
}

const RETRY_AFTER_SECONDS = 5

export const hasBody = ({ head }: Holdable): boolean => head.framing.kind !== 'none'

/** A request that waits for its service to wake. Its body is not asked for meanwhile, so no more of it is here than came with its head. */
export class HeldRequest implements Exchange, Deadlined {
  readonly #request: Holdable
  readonly #left: (request: HeldRequest) => void
  #next: Exchange | undefined
  #isOver = false
  deadlineAt: number

  constructor(request: Holdable, { deadlineAt, left }: { deadlineAt: number; left: (request: HeldRequest) => void }) {
    this.#request = request
    this.#left = left
    this.deadlineAt = deadlineAt
  }

  get serviceId(): string {
    return this.#request.serviceId
  }

  get host(): string {
    return this.#request.head.host
  }

  get hasBody(): boolean {
    return hasBody(this.#request)
  }

  goOn(): void {
    const { client, answer } = this.#request
    this.#leave()
    this.#next = answer()
    // The body may have been waiting for somebody to take it.
    if (this.#next !== undefined) client.poke()
  }

  giveUp(reason: string): void {
    const { client, head, name } = this.#request
    this.#leave()
    client.note.hasFailed = true
    const page = { status: 503, title: 'Service Unavailable', text: `${name} ${reason}`, retryAfterSeconds: RETRY_AFTER_SECONDS }
    respond(client, head.method, pageResponse(page, fieldValue(head.fields, 'accept')))
  }

  expired(): void {
    this.giveUp('was asleep and did not wake in time. Try again in a moment.')
  }

  get wantsBody(): boolean {
    return this.#next?.wantsBody ?? false
  }

  body(bytes: Buffer, from?: number, to?: number): void {
    this.#next?.body(bytes, from, to)
  }

  bodyPause(): void {
    this.#next?.bodyPause()
  }

  bodyEnd(): void {
    this.#next?.bodyEnd()
  }

  clientDrained(): void {
    this.#next?.clientDrained()
  }

  clientEnded(): void {
    if (this.#next === undefined) this.#leave()
    else this.#next.clientEnded()
  }

  clientGone(): void {
    if (this.#next === undefined) this.#leave()
    else this.#next.clientGone()
  }

  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.deadlineAt = NEVER
    this.#left(this)
  }
}
