import { listOf } from '../message/field-lines.ts'

export interface Validators {
  etag: string
  /** Whole seconds, in milliseconds since 1970. */
  modifiedAt: number
}

export interface Conditions {
  ifNoneMatch: string | undefined
  ifModifiedSince: string | undefined
  ifRange: string | undefined
}

/** Whether the client's copy is still good (RFC 9110 section 13.2.2): the tag decides where there is one. */
export function isFresh({ ifNoneMatch, ifModifiedSince }: Conditions, current: Validators): boolean {
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch === current.etag) return true
    const wanted = current.etag.toLowerCase()
    return listOf(ifNoneMatch).some((tag) => tag === '*' || tag.replace(/^w\//, '') === wanted)
  }
  const since = ifModifiedSince === undefined ? Number.NaN : Date.parse(ifModifiedSince)
  return since >= current.modifiedAt
}

/** Whether a range may be served of what is there now: without If-Range always, else only when it is exactly what the client has. */
export function isRangeCurrent({ ifRange }: Conditions, current: Validators): boolean {
  if (ifRange === undefined) return true
  return ifRange.startsWith('"') ? ifRange === current.etag : Date.parse(ifRange) === current.modifiedAt
}
