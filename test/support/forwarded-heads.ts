import { forwardRequest, RequestOrigin, type RequestSource } from '../../server/ingress/message/forward-request.ts'
import { forwardResponse, type ResponseForwarding } from '../../server/ingress/message/forward-response.ts'
import type { HeadWriter } from '../../server/ingress/message/kept-lines.ts'
import type { RequestHead } from '../../server/ingress/message/request-head.ts'
import type { ResponseHead } from '../../server/ingress/message/response-head.ts'

/** A head as the instance gets it. */
export const forwardedRequest = (head: RequestHead, { requestId, ...source }: RequestSource & { requestId: string }): string =>
  written((out) => forwardRequest(out, head, { origin: new RequestOrigin(source), requestId }))

/** A head as the client gets it. */
export const forwardedResponse = (head: ResponseHead, forwarding: ResponseForwarding): string =>
  written((out) => forwardResponse(out, head, forwarding))

function written(write: (out: HeadWriter) => void): string {
  let text = ''
  write({ writeHead: (part) => (text += part) })
  return text
}
