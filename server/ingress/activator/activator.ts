import type { Exchange } from '../exchange/exchange.ts'
import { pageResponse } from '../exchange/page.ts'
import { respond } from '../exchange/respond.ts'
import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { fieldValue } from '../message/request-head.ts'
import { hasBody, type Parkable, ParkedRequest } from './held-request.ts'
import { ParkedServices } from './held-services.ts'

/** Requests that go on in one go; an instance that has just woken takes up its queue of connections between two of them. */
const BATCH = 100
const BATCH_PAUSE_MS = 2
const RETRY_AFTER_SECONDS = 5

export type ParkingLimits = Pick<IngressLimits, 'maxParked' | 'maxParkedPerService' | 'maxParkedWithBody' | 'wakeTimeoutMs'>

/**
 * Where requests wait for services that are asleep. Whoever wakes services is told as soon as one is waited for; the requests go on, in
 * the order they came, with the first route table in which the service is not asleep. Places are bounded, of each service and in all,
 * and one is free again when its client leaves.
 */
export class Parking {
  readonly #limits: ParkingLimits
  readonly #deadlines: Deadlines
  readonly #byService = new Map<string, Set<ParkedRequest>>()
  #count = 0
  #withBody = 0
  #isAsleep: (host: string) => boolean = () => true
  readonly services = new ParkedServices(() => this.#byService.keys())

  constructor(limits: ParkingLimits, deadlines: Deadlines) {
    this.#limits = limits
    this.#deadlines = deadlines
  }

  /** Has a request wait; undefined when there is no place for it, and it has been answered so. */
  park(request: Parkable): Exchange | undefined {
    const waiting = this.#byService.get(request.serviceId) ?? new Set()
    if (this.#isFull(waiting.size, hasBody(request))) return refuse(request)
    const deadlineAt = this.#deadlines.now + this.#limits.wakeTimeoutMs
    const parked = new ParkedRequest(request, { deadlineAt, left: (one) => this.#leave(one) })
    waiting.add(parked)
    this.#count++
    if (hasBody(request)) this.#withBody++
    this.#byService.set(request.serviceId, waiting)
    this.#deadlines.add(parked)
    if (waiting.size === 1) this.services.tell(request.serviceId)
    return parked
  }

  /** A new route table is in force: whose service is not asleep in it goes on, and who else is waited for is told of once more. */
  follow(isAsleep: (host: string) => boolean): void {
    this.#isAsleep = isAsleep
    for (const [serviceId, waiting] of this.#byService) {
      if ([...waiting].some(({ host }) => isAsleep(host))) this.services.tell(serviceId)
      this.#release(serviceId)
    }
  }

  /** Answers all of them: the ingress ends. */
  abandonAll(): void {
    for (const waiting of [...this.#byService.values()]) {
      for (const parked of [...waiting]) parked.giveUp('was asleep, and did not wake before this request had to end. Try again.')
    }
  }

  #release(serviceId: string): void {
    const awake = [...(this.#byService.get(serviceId) ?? [])].filter(({ host }) => !this.#isAsleep(host))
    for (const parked of awake.slice(0, BATCH)) parked.goOn()
    if (awake.length > BATCH) setTimeout(() => this.#release(serviceId), BATCH_PAUSE_MS)
  }

  #isFull(waitingCount: number, isWithBody: boolean): boolean {
    const { maxParked, maxParkedPerService, maxParkedWithBody } = this.#limits
    return waitingCount >= maxParkedPerService || this.#count >= maxParked || (isWithBody && this.#withBody >= maxParkedWithBody)
  }

  #leave(parked: ParkedRequest): void {
    this.#deadlines.delete(parked)
    const waiting = this.#byService.get(parked.serviceId)
    if (waiting?.delete(parked)) {
      this.#count--
      if (parked.hasBody) this.#withBody--
    }
    if (waiting?.size === 0) this.#byService.delete(parked.serviceId)
  }
}

function refuse({ head, client, name }: Parkable): undefined {
  const text = `${name} is waking up, and too many requests wait for it already. Try again in a moment.`
  const page = { status: 503, title: 'Service Unavailable', text, retryAfterSeconds: RETRY_AFTER_SECONDS }
  client.note.hasFailed = true
  respond(client, head.method, pageResponse(page, fieldValue(head.fields, 'accept')))
  return undefined
}
