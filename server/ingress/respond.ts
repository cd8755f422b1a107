import { STATUS_CODES } from 'node:http'
import type { ClientSide } from './exchange.ts'
import { connectionLine } from './message/forward-response.ts'

/** An answer the ingress gives itself, small enough to be sent in one piece. */
export interface LocalResponse {
  status: number
  headers: readonly (readonly [string, string])[]
  body: Buffer
}

/** What of a request decides how it is answered. */
export interface Asked {
  method: string
  minorVersion: 0 | 1
}

const NO_BODY = Buffer.alloc(0)

/** Sends the whole answer and finishes the exchange. */
export function respond(client: ClientSide, asked: Asked, response: LocalResponse): void {
  const isKeptAlive = client.keepsAlive
  const head = localHead(asked, { ...response, lengthBytes: response.body.length, isKeptAlive })
  client.write(Buffer.concat([head, asked.method === 'HEAD' ? NO_BODY : response.body]))
  client.finish(isKeptAlive)
}

export interface LocalHead {
  status: number
  headers: readonly (readonly [string, string])[]
  /** Undefined for an answer that has no body by its status. */
  lengthBytes: number | undefined
  isKeptAlive: boolean
}

/** The head of an answer of our own. Values are sent as latin1; callers see to it that they hold no line break. */
export function localHead(asked: Asked, { status, headers, lengthBytes, isKeptAlive }: LocalHead): Buffer {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n`
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`
  if (lengthBytes !== undefined) text += `Content-Length: ${lengthBytes}\r\n`
  return Buffer.from(`${text}${connectionLine(asked.minorVersion, isKeptAlive)}\r\n`, 'latin1')
}
