/** What a pattern's placeholders stood for: `:name` by its name, `*` in the order of their appearance. */
export interface PathMatch {
  named: Map<string, string>
  wild: string[]
}

/** A pattern of a rule, taken apart once: its literals and names between one `*` and the next. */
export type PathPattern = readonly (readonly string[])[]

export const compilePattern = (pattern: string): PathPattern => pattern.split('*').map(split)

/**
 * Matches a decoded path against a pattern in which `:name` stands for one segment and `*` for anything, slashes included.
 * Each `*` but the last takes as little as it can, and never reconsiders: patterns and paths come from different strangers, so the
 * time must not grow with more than the product of their lengths.
 */
export function matchPath(pattern: PathPattern, path: string): PathMatch | undefined {
  const match: PathMatch = { named: new Map(), wild: [] }
  const [first = [], ...blocks] = pattern
  let at = matchBlock(first, path, { from: 0, named: match.named })
  if (at < 0 || (blocks.length === 0 && at < path.length)) return undefined
  for (const [index, block] of blocks.entries()) {
    const isLast = index === blocks.length - 1
    const start = at
    let end = -1
    for (; at <= path.length && (end < 0 || (isLast && end < path.length)); at++)
      end = matchBlock(block, path, { from: at, named: match.named })
    if (end < 0 || (isLast && end < path.length)) return undefined
    match.wild.push(path.slice(start, at - 1))
    at = end
  }
  return match
}

/** Puts what was matched into a destination; each placeholder it does not know stays as it is. */
export function fillPath(destination: string, match: PathMatch): string {
  const wild = [...match.wild]
  const isUrl = /^https?:\/\//.exec(destination)?.[0] ?? ''
  return (
    isUrl +
    split(destination.slice(isUrl.length))
      .map((part) => {
        if (part === '*') return encode(wild.shift() ?? '')
        const value = isName(part) ? match.named.get(part.slice(1)) : undefined
        return value === undefined ? part : encode(value)
      })
      .join('')
  )
}

function encode(value: string): string {
  return value.split('/').map(encodeURIComponent).join('/')
}

/** Literals, `:name` and `*` in turn. */
function split(pattern: string): string[] {
  return pattern.split(/(\*|(?<=\/):[A-Za-z0-9_]+)/).filter((part) => part !== '')
}

/** Where a stretch of pattern without `*` ends that begins at `from`, or -1 when it does not match there. */
function matchBlock(block: readonly string[], path: string, { from, named }: { from: number; named: Map<string, string> }): number {
  let at = from
  for (const part of block) {
    if (isName(part)) {
      const slash = path.indexOf('/', at)
      const end = slash < 0 ? path.length : slash
      if (end === at) return -1
      named.set(part.slice(1), path.slice(at, end))
      at = end
    } else {
      if (!path.startsWith(part, at)) return -1
      at += part.length
    }
  }
  return at
}

/** A colon begins a name only behind a slash, so a literal part holds the slash before it. */
function isName(part: string): boolean {
  return part.startsWith(':')
}
