export interface RequestPath {
  segments: string[]
  hasTrailingSlash: boolean
  query: string
}

/** Decodes a target once. Undefined for broken escapes, control characters, `..`, and hidden names except below `/.well-known/`. */
export function parseRequestPath(target: string): RequestPath | undefined {
  const queryAt = target.indexOf('?')
  const path = decode(pathOf(target))
  if (path === undefined || hasControlCharacter(path)) return undefined
  const segments = path.split('/').filter((segment) => segment !== '')
  if (segments.some((segment, index) => isHidden(segment) && !(index === 0 && segment === '.well-known'))) return undefined
  return { segments, hasTrailingSlash: path.endsWith('/'), query: queryAt < 0 ? '' : target.slice(queryAt) }
}

export function pathOf(target: string): string {
  const queryAt = target.indexOf('?')
  return queryAt < 0 ? target : target.slice(0, queryAt)
}

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
