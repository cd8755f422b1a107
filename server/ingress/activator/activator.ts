import type { Exchange } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { respond } from '../exchange/respond.ts'
import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { fieldValue } from '../message/request-head.ts'
import { HeldRequest, type Holdable, hasBody } from './held-request.ts'
import { HeldServices } from './held-services.ts'

/** Requests that go on in one go; an instance that has just woken takes up its queue of connections between two of them. */
const BATCH = 100
const BATCH_PAUSE_MS = 2
const RETRY_AFTER_SECONDS = 5

export type ActivatorLimits = Pick<IngressLimits, 'maxHeld' | 'maxHeldPerService' | 'maxHeldWithBody' | 'wakeTimeoutMs'>

/**
 * Where requests wait for services that are asleep. Whoever wakes services is told as soon as one is waited for; the requests go on, in
 * the order they came, with the first route table in which the service is not asleep. Places are bounded, of each service and in all,
 * and one is free again when its client leaves.
 */
export class Activator {
  readonly #limits: ActivatorLimits
  readonly #deadlines: Deadlines
  readonly #byService = new Map<string, Set<HeldRequest>>()
  #count = 0
  #withBody = 0
  #isAsleep: (host: string) => boolean = () => true
  readonly services = new HeldServices(() => this.#byService.keys())

  constructor(limits: ActivatorLimits, deadlines: Deadlines) {
    this.#limits = limits
    this.#deadlines = deadlines
  }

  hold(request: Holdable): Exchange | undefined {
    const waiting = this.#byService.get(request.serviceId) ?? new Set()
    if (this.#isFull(waiting.size, hasBody(request))) return refuse(request)
    const deadlineAt = this.#deadlines.now + this.#limits.wakeTimeoutMs
    const held = new HeldRequest(request, { deadlineAt, left: (one) => this.#leave(one) })
    waiting.add(held)
    this.#count++
    if (hasBody(request)) this.#withBody++
    this.#byService.set(request.serviceId, waiting)
    this.#deadlines.add(held)
    if (waiting.size === 1) this.services.publish(request.serviceId)
    return held
  }

  follow(isAsleep: (host: string) => boolean): void {
    this.#isAsleep = isAsleep
    for (const [serviceId, waiting] of this.#byService) {
      if ([...waiting].some(({ host }) => isAsleep(host))) this.services.publish(serviceId)
      this.#release(serviceId)
    }
  }

  abandonAll(): void {
    for (const waiting of [...this.#byService.values()]) {
      for (const held of [...waiting]) held.giveUp('was asleep, and did not wake before this request had to end. Try again.')
    }
  }

  #release(serviceId: string): void {
    const awake = [...(this.#byService.get(serviceId) ?? [])].filter(({ host }) => !this.#isAsleep(host))
    for (const held of awake.slice(0, BATCH)) held.goOn()
    if (awake.length > BATCH) setTimeout(() => this.#release(serviceId), BATCH_PAUSE_MS)
  }

  #isFull(waitingCount: number, isWithBody: boolean): boolean {
    const { maxHeld, maxHeldPerService, maxHeldWithBody } = this.#limits
    return waitingCount >= maxHeldPerService || this.#count >= maxHeld || (isWithBody && this.#withBody >= maxHeldWithBody)
  }

  #leave(held: HeldRequest): void {
    this.#deadlines.delete(held)
    const waiting = this.#byService.get(held.serviceId)
    if (waiting?.delete(held)) {
      this.#count--
      if (held.hasBody) this.#withBody--
    }
    if (waiting?.size === 0) this.#byService.delete(held.serviceId)
  }
}

function refuse({ head, client, name }: Holdable): undefined {
  const text = `${name} is waking up, and too many requests wait for it already. Try again in a moment.`
  const page = { status: 503, title: 'Service Unavailable', text, retryAfterSeconds: RETRY_AFTER_SECONDS }
  client.note.hasFailed = true
  respond(client, head.method, pageResponse(page, fieldValue(head.fields, 'accept')))
  return undefined
}
