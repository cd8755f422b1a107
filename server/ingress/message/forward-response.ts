import { isBodyless, type ResponseHead } from './response-head.ts'

export interface ResponseForwarding {
  /** Of the client that is answered. */
  minorVersion: 0 | 1
  /** Of the request that is answered. */
  method: string
  /** Whether the client may send another request on this connection. */
  isKeptAlive: boolean
}

const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'upgrade'])

/** The head as the client gets it. An HTTP/1.0 client knows no chunks: it gets their payload, and the end of the connection as its end. */
export function forwardedResponse(head: ResponseHead, { minorVersion, method, isKeptAlive }: ResponseForwarding): string {
  let text = statusLine(head)
  const hasNoLength = head.status < 200 || head.status === 204
  for (const { name, line } of head.fields) {
    if (hopByHop.has(name) || head.connection.includes(name)) continue
    if (name === 'transfer-encoding' && (minorVersion === 0 || isBodyless(head.status, method))) continue
    if (name === 'content-length' && hasNoLength) continue
    text += line
  }
  if (head.status >= 200) text += connectionLine(minorVersion, isKeptAlive)
  return `${text}\r\n`
}

/** The answer to an accepted change of protocol. */
export function forwardedSwitch(head: ResponseHead): string {
  let text = statusLine(head)
  for (const { name, line } of head.fields) {
    const isOurs = name === 'connection' || name === 'content-length' || name === 'transfer-encoding'
    if (!isOurs) text += line
  }
  return `${text}Connection: Upgrade\r\n\r\n`
}

/** What an answer says of the connection; nothing where the version's default holds. */
export function connectionLine(minorVersion: 0 | 1, isKeptAlive: boolean): string {
  if (minorVersion === 1) return isKeptAlive ? '' : 'Connection: close\r\n'
  return isKeptAlive ? 'Connection: keep-alive\r\n' : ''
}

function statusLine(head: ResponseHead): string {
  return `HTTP/1.1 ${head.status} ${head.reason}\r\n`
}
