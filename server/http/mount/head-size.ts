import http from 'node:http'
import { AppError } from '../../../shared/error.ts'
import { respondError } from '../answers/respond.ts'
import type { HttpParts } from '../requests/parts.ts'
import { openRequest, uncredited } from '../requests/request-context.ts'

const KIB = 1024
const MAX_HEAD_BYTES = 16 * KIB

/** Bun answers larger heads by itself, without a body. */
const BUNS_OWN_LIMIT_BYTES = 64 * KIB

export function raiseHeadLimit(): void {
  // Node calls it read-only; Bun goes by what it is set to.
  Object.assign(http, { maxHeaderSize: BUNS_OWN_LIMIT_BYTES })
}

export function refuseBadHead(request: Request, parts: HttpParts): Response | undefined {
  const problem = problemOf(request)
  if (problem === undefined) return undefined
  const received = openRequest(request, parts)
  try {
    received.count(uncredited)
    throw problem
  } catch (error) {
    return respondError(received.head(), error, parts.log)
  }
}

function problemOf(request: Request): AppError | undefined {
  let bytes = request.url.length
  // `forEach`, because iterating takes three times as long.
  request.headers.forEach((value, name) => {
    bytes += name.length + value.length + ': \r\n'.length
  })
  if (bytes > MAX_HEAD_BYTES) {
    const message = `The path, query and headers are larger than ${MAX_HEAD_BYTES / KIB} KiB together. Send a shorter query, or fewer cookies.`
    return new AppError('head_too_large', message)
  }
  // Bun makes the URL from the Host header unseen. Whoever takes it apart later would throw, the audit log included.
  return URL.canParse(request.url) ? undefined : new AppError('bad_request', 'The Host header names no host. Send the name of this server.')
}
