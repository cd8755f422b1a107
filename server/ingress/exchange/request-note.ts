import type { RequestHead } from '../message/request-head.ts'

/** What is reported of a request when it is over. The object is used for the next request: whoever wants to keep something copies it. */
export class RequestNote {
  head: RequestHead | undefined
  requestId = ''
  /** Milliseconds, monotonic. */
  startedAt = 0
  serviceId = ''
  instanceId = ''
  /** 0 while nothing was answered, and for a client that left before. */
  status = 0
  receivedBytes = 0
  sentBytes = 0
  isTunnel = false
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
