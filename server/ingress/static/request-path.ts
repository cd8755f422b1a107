/** A request target taken apart for a static site. */
export interface RequestPath {
  /** Decoded, without empty segments; safe to be joined below a root. */
  segments: string[]
  /** Whether it names a folder. */
  hasTrailingSlash: boolean
  /** With its question mark; empty without one. */
  query: string
}

/**
 * Decodes a target once. Undefined for what no file of a site can be meant by: broken escapes, control characters, `..`, and names
 * that begin with a dot, except below `/.well-known/`.
 */
export function parseRequestPath(target: string): RequestPath | undefined {
  const queryAt = target.indexOf('?')
  const path = decode(pathOf(target))
  if (path === undefined || hasControlCharacter(path)) return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  if (segments.some((segment, index) => isHidden(segment) && !(index === 0 && segment === '.well-known'))) return undefined
  return { segments, hasTrailingSlash: path.endsWith('/'), query: queryAt < 0 ? '' : target.slice(queryAt) }
}

/** A target without its query, as it was sent. */
export function pathOf(target: string): string {
  const queryAt = target.indexOf('?')
  return queryAt < 0 ? target : target.slice(0, queryAt)
}

/** The path as it goes into a Location header. */
export function encodePath(segments: readonly string[], hasTrailingSlash: boolean): string {
  const path = segments.map(encodeURIComponent).join('/')
  return hasTrailingSlash && path !== '' ? `/${path}/` : `/${path}`
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** `.` and `..` are hidden names too. */
function isHidden(segment: string): boolean {
  return segment.startsWith('.')
}

function hasControlCharacter(path: string): boolean {
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at)
    if (code < 32 || code === 127) return true
  }
  return false
}
