/**
 * How the ingress writes down one request for the control plane: a line of fields parted by tabs, in ASCII whatever the client sent,
 * so that it is one line and one reading of it. The last field is one character that every whole line ends with: a line that a
 * crash cut short is known by its lack.
 */
import { forwardedClient } from '../../../shared/forwarded-client.ts'
import type { ClientSide } from '../exchange/exchange.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { skipWhile, tableOf } from '../message/characters.ts'
import { fieldValue } from '../message/request-head.ts'

export const ending = { whole: '.', clientGone: 'c', brokenOff: 'b' } as const
export type Ending = (typeof ending)[keyof typeof ending]

const MAX_TARGET = 2048
const MAX_USER_AGENT = 512
const MAX_REFERER = 1024
/** A word in place of the status: the line gives how many lines of the service were left out. */
const LEFT_OUT = '-'

export interface AccessRecord {
  /** When it ended, in milliseconds since 1970. */
  at: number
  serviceId: string
  instanceId: string
  status: number
  durationMs: string
  receivedBytes: number
  sentBytes: number
  protocol: string
  address: string
  requestId: string
  method: string
  host: string
  target: string
  userAgent: string
  referer: string
  ending: Ending
}

export interface LeftOut {
  at: number
  serviceId: string
  leftOut: number
}

export interface RecordedRequest {
  note: RequestNote
  client: ClientSide
  /** Milliseconds since 1970, as text. */
  at: string
  durationMs: number
  isTrusted(address: string): boolean
}

export function accessRecord({ note, client, at, durationMs, isTrusted }: RecordedRequest): string {
  const { head } = note
  if (head === undefined) return ''
  const { notable } = head
  const address = client.isTrusted ? forwardedClient(client.address, fieldValue(notable, 'x-forwarded-for'), isTrusted) : client.address
  const end = endingOf(note)
  return (
    `${at}\t${note.serviceId}\t${note.instanceId}\t${note.status}\t${tenthsOf(durationMs)}\t${note.receivedBytes}\t${note.sentBytes}` +
    `\t${client.protocol}\t${address}\t${note.requestId}\t${head.method}\t${head.host}\t${plain(head.target, MAX_TARGET)}` +
    `\t${plain(fieldValue(notable, 'user-agent') ?? '', MAX_USER_AGENT)}\t${plain(fieldValue(notable, 'referer') ?? '', MAX_REFERER)}\t${end}\n`
  )
}

function tenthsOf(ms: number): string {
  const tenths = Math.round(ms * 10)
  return `${Math.floor(tenths / 10)}.${tenths % 10}`
}

export function leftOutRecord({ at, serviceId, leftOut }: LeftOut): string {
  return `${at}\t${serviceId}\t\t${LEFT_OUT}\t${leftOut}\t${ending.whole}\n`
}

const FIELDS = 16
const LEFT_OUT_FIELDS = 6

export function parseAccessRecord(line: string): AccessRecord | LeftOut | undefined {
  const fields = line.split('\t')
  const [at = '', serviceId = '', instanceId = '', status = '', durationMs = ''] = fields
  if (status === LEFT_OUT && fields.length === LEFT_OUT_FIELDS) return { at: Number(at), serviceId, leftOut: Number(durationMs) }
  if (fields.length !== FIELDS) return undefined
  const [received = '', sent = '', protocol = '', address = '', requestId = '', method = '', host = ''] = fields.slice(5)
  const [target = '', userAgent = '', referer = '', last = ''] = fields.slice(12)
  const end = Object.values(ending).find((one) => one === last)
  if (end === undefined) return undefined
  return {
    ...{ at: Number(at), serviceId, instanceId, status: Number(status), durationMs, ending: end },
    ...{ receivedBytes: Number(received), sentBytes: Number(sent), protocol, address, requestId, method, host, target, userAgent, referer },
  }
}

export function requestsIn(line: string): { serviceId: string; requests: number } {
  const [, serviceId = '', , status, leftOut] = line.split('\t', 5)
  return { serviceId, requests: status === LEFT_OUT ? Number(leftOut) : 1 }
}

function endingOf({ status, isTunnel, isCutOff, hasFailed }: RequestNote): Ending {
  if (status !== 0 && (isTunnel || !isCutOff)) return ending.whole
  return hasFailed ? ending.brokenOff : ending.clientGone
}

const SPACE = 32
const DELETE = 127
const BACKSLASH = 92
const QUOTE = 34
const isPlainCode = tableOf((code) => code >= SPACE && code < DELETE && code !== BACKSLASH && code !== QUOTE)

/** Visible ASCII and spaces; any other character, and what would end a quotation, as `\xNN`. */
export function plain(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}...` : text
  return skipWhile(cut, 0, isPlainCode) === cut.length ? cut : escaped(cut)
}

function escaped(text: string): string {
  let result = ''
  for (const unit of text.split('')) {
    const code = unit.charCodeAt(0)
    result += isPlainCode[code] === 1 ? unit : `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return result
}
