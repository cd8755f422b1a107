import type { Header, LocalHead } from '../message/header.ts'
import { headerLines } from '../message/local-head.ts'
import { type PathRules, ruledHeaders } from '../rules/path-rules.ts'
import type { Asked } from './asked.ts'
import { type ByteRange, parseRange } from './byte-range.ts'
import { isFresh, isRangeCurrent, type Validators } from './conditional.ts'
import { isCompressible } from './content-type.ts'
import type { Coding } from './encoding.ts'
import type { SiteFile } from './files.ts'

export type Headers = Header[]

export interface Representation {
  file: SiteFile
  status: 200 | 404
  path: string
  coding: Coding
  sizeBytes: number
}

export interface FormReplies {
  status: 200 | 404
  validators: Validators
  sizeBytes: number
  whole: LocalHead
  notModified: LocalHead
  hasRanges: boolean
}

export interface FileReply {
  head: LocalHead
  range: ByteRange | undefined
}

/** Browsers ask each time, with the tag, so that a new release is seen at once; the answer is a 304 of some hundred bytes. */
const DEFAULT_CACHE_CONTROL = 'public, max-age=0, must-revalidate'

export function formReplies({ file, status, path, coding, sizeBytes }: Representation, rules: PathRules): FormReplies {
  const validators: Validators = { etag: etagOf(file, coding), modifiedAt: file.modifiedAt }
  const headers = withRules(cachingHeaders(file, validators), rules, path)
  const content: Headers = [['Content-Type', file.contentType]]
  if (coding !== 'identity') content.push(['Content-Encoding', coding])
  return {
    status,
    validators,
    sizeBytes,
    whole: prepared({ status, headers: withRules([...content, ...headers], rules, path), lengthBytes: sizeBytes }),
    notModified: prepared({ status: 304, headers, lengthBytes: undefined }),
    hasRanges: status === 200 && coding === 'identity',
  }
}

export function chooseReply(replies: FormReplies, method: string, asked: Asked): FileReply {
  const { status, validators, sizeBytes, whole, notModified, hasRanges } = replies
  if (status === 200 && isFresh(asked, validators)) return { head: notModified, range: undefined }
  const all: FileReply = { head: whole, range: { start: 0, end: sizeBytes } }
  if (asked.range === undefined || !hasRanges || method !== 'GET' || !isRangeCurrent(asked, validators)) return all
  const range = parseRange(asked.range, sizeBytes)
  if (range === undefined) return all
  if (range === 'unsatisfiable') {
    const headers: Headers = [['Content-Range', `bytes */${sizeBytes}`]]
    return { head: { status: 416, headers, lengthBytes: 0 }, range: { start: 0, end: 0 } }
  }
  const headers: Headers = [...whole.headers, ['Content-Range', `bytes ${range.start}-${range.end - 1}/${sizeBytes}`]]
  return { head: { status: 206, headers, lengthBytes: range.end - range.start }, range }
}

const prepared = (head: LocalHead): LocalHead => ({ ...head, lines: headerLines(head) })

/** Strong: another release, path, size, time or encoding has another tag. */
function etagOf({ release, path, sizeBytes, modifiedAt }: SiteFile, coding: Coding): string {
  const hash = Bun.hash(`${release.releaseId}\0${path}\0${sizeBytes}\0${modifiedAt}`).toString(36)
  return coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`
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

function withRules(headers: Headers, rules: PathRules, path: string): Headers {
  const ruled = ruledHeaders(rules, path)
  const isRuled = (name: string) => ruled.some((header) => header[0].toLowerCase() === name.toLowerCase())
  return [...headers.filter(([name]) => !isRuled(name)), ...ruled]
}
