import { STATUS_CODES } from 'node:http'
import { connectionLine } from './forward-response.ts'
import type { LocalHead } from './header.ts'
import { httpDate } from './http-date.ts'

export interface LocalHeadOptions {
  minorVersion: 0 | 1
  isKeptAlive: boolean
  requestId: string
}

/** The head of an answer of our own in HTTP/1 form. Values are sent as latin1; callers see to it that they hold no line break. */
export function localHead(head: LocalHead, { minorVersion, isKeptAlive, requestId }: LocalHeadOptions): string {
  const { status, lines = headerLines(head) } = head
  const connection = connectionLine(minorVersion, isKeptAlive)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nDate: ${httpDate()}\r\n${lines}X-Request-Id: ${requestId}\r\n${connection}\r\n`
}

export function headerLines({ headers, lengthBytes }: LocalHead): string {
  let text = ''
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`
  return lengthBytes === undefined ? text : `${text}Content-Length: ${lengthBytes}\r\n`
}
