import type { Header } from '../message/header.ts'
import type { ClientSide } from './exchange.ts'

/** An answer the ingress gives itself, small enough to be sent in one piece. */
export interface LocalResponse {
  status: number
  headers: readonly Header[]
  body: Buffer
}

/** Sends the whole answer and finishes the exchange; `method` is that of the request. */
export function respond(client: ClientSide, method: string, { status, headers, body }: LocalResponse): void {
  const isKeptAlive = client.keepsAlive
  client.hold()
  client.writeLocalHead({ status, headers, lengthBytes: body.length }, isKeptAlive)
  if (method !== 'HEAD') client.write(body)
  client.release()
  client.finish(isKeptAlive)
}
