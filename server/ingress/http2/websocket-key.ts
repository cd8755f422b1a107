import { fieldValue } from '../message/request-head.ts'
import type { ResponseHead } from '../message/response-head.ts'

/** RFC 6455 section 1.3. */
const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export function agreementProblem(head: ResponseHead, key: string | undefined): string | undefined {
  const expected = new Bun.CryptoHasher('sha1').update(`${key}${MAGIC}`).digest('base64')
  if (fieldValue(head.fields, 'sec-websocket-accept') === expected) return undefined
  return 'its Sec-WebSocket-Accept does not answer the key it was given'
}
