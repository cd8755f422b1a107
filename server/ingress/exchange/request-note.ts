import type { RequestHead } from '../message/request-head.ts'

/**
 * What will be told of a request when it is over: filled in on its way by whoever learns it, and taken for another request after
 * that, so whoever wants to keep something of it copies it.
 */
export class RequestNote {
  /** Undefined for a request that was refused before its head was understood. */
  head: RequestHead | undefined
  requestId = ''
  /** Milliseconds, monotonic. */
  startedAt = 0
  /** Empty where nothing is deployed at the host. */
  serviceId = ''
  /** Of who answered it last; empty where no instance was asked. */
  instanceId = ''
  /** 0 while nothing was answered, and for a client that left before. */
  status = 0
  /** Of the request's body, with its framing, or of what a tunnel got from the client. */
  receivedBytes = 0
  /** Of the answer's body, with its framing, or of what a tunnel sent to the client. */
  sentBytes = 0
  /** Whether it has become a tunnel, which ends when either side wants: it cannot be cut off. */
  isTunnel = false
  /** Whether the answer was cut off before it was whole. */
  isCutOff = false
  /** Whether the instance failed it: the answer is one of ours (502, 503, 504) in its place, or one that it broke off. */
  hasFailed = false

  begin(head: RequestHead | undefined, requestId: string): void {
    this.head = head
    this.requestId = requestId
    this.startedAt = performance.now()
    this.serviceId = ''
    this.instanceId = ''
    this.status = 0
    this.receivedBytes = 0
    this.sentBytes = 0
    this.isTunnel = false
    this.isCutOff = false
    this.hasFailed = false
  }
}
