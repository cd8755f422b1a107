import type { Header } from '../exchange.ts'
import { type PathRules, ruledHeaders } from '../rules/path-rules.ts'
import { type ByteRange, parseRange } from './byte-range.ts'
import { type Conditions, isFresh, isRangeCurrent, type Validators } from './conditional.ts'
import { isCompressible } from './content-type.ts'
import type { Encoding } from './encoding.ts'
import type { SiteFile } from './files.ts'

export type Headers = Header[]

export interface FileRequest {
  method: string
  /** Decoded, as header rules see it. */
  path: string
  range: string | undefined
  conditions: Conditions
}

/** The form of a file that is to be sent. */
export interface Representation {
  file: SiteFile
  status: 200 | 404
  /** Its compressed form, where one was chosen. */
  encoded: { encoding: Encoding; bytes: Buffer } | undefined
}

export interface FileReply {
  status: number
  headers: Headers
  /** Of the body that would be sent to a GET; undefined for an answer that has none by its status. */
  range: ByteRange | undefined
}

/** Browsers ask each time, with the tag, so that a new release is seen at once; the answer is a 304 of some hundred bytes. */
const DEFAULT_CACHE_CONTROL = 'public, max-age=0, must-revalidate'

/** Decides status and headers for a file: not modified, a part of it, or all of it. */
export function planReply(request: FileRequest, representation: Representation, rules: PathRules): FileReply {
  const { file, status, encoded } = representation
  const validators: Validators = { etag: etagOf(file, encoded?.encoding), modifiedAt: file.modifiedAt }
  const headers = withRules(cachingHeaders(file, validators), rules, request.path)
  if (status === 200 && isFresh(request.conditions, validators)) return { status: 304, headers, range: undefined }
  const sizeBytes = encoded?.bytes.length ?? file.sizeBytes
  const content: Headers = [['Content-Type', file.contentType]]
  if (encoded !== undefined) content.push(['Content-Encoding', encoded.encoding])
  const whole: FileReply = {
    status,
    headers: withRules([...content, ...headers], rules, request.path),
    range: { start: 0, end: sizeBytes },
  }
  if (encoded !== undefined || status !== 200 || request.method !== 'GET' || !isRangeCurrent(request.conditions, validators)) return whole
  const range = parseRange(request.range, sizeBytes)
  if (range === undefined) return whole
  if (range === 'unsatisfiable') {
    return { status: 416, headers: [['Content-Range', `bytes */${sizeBytes}`]], range: { start: 0, end: 0 } }
  }
  const contentRange = `bytes ${range.start}-${range.end - 1}/${sizeBytes}`
  return { status: 206, headers: [...whole.headers, ['Content-Range', contentRange]], range }
}

/** Strong: another release, path, size, time or encoding has another tag. */
function etagOf({ release, path, sizeBytes, modifiedAt }: SiteFile, encoding: Encoding | undefined): string {
  const hash = Bun.hash(`${release.releaseId}\0${path}\0${sizeBytes}\0${modifiedAt}`).toString(36)
  return encoding === undefined ? `"${hash}"` : `"${hash}-${encoding}"`
}

function cachingHeaders(file: SiteFile, { etag, modifiedAt }: Validators): Headers {
  const headers: Headers = [
    ['ETag', etag],
    ['Last-Modified', new Date(modifiedAt).toUTCString()],
    ['Cache-Control', DEFAULT_CACHE_CONTROL],
    ['Accept-Ranges', 'bytes'],
    ['X-Content-Type-Options', 'nosniff'],
  ]
  if (isCompressible(file.contentType)) headers.push(['Vary', 'Accept-Encoding'])
  return headers
}

/** A rule's header takes the place of ours. */
function withRules(headers: Headers, rules: PathRules, path: string): Headers {
  const ruled = ruledHeaders(rules, path)
  const isRuled = (name: string) => ruled.some((header) => header[0].toLowerCase() === name.toLowerCase())
  return [...headers.filter(([name]) => !isRuled(name)), ...ruled]
}
