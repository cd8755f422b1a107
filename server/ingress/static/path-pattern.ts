/** What a pattern's placeholders stood for: `:name` by its name, `*` in the order of their appearance. */
export interface PathMatch {
  named: Map<string, string>
  wild: string[]
}

/**
 * Matches a decoded path against a pattern in which `:name` stands for one segment and `*` for anything, slashes included.
 * Written out instead of built as a regular expression, so that no pattern can take more than quadratic time.
 */
export function matchPath(pattern: string, path: string): PathMatch | undefined {
  const match: PathMatch = { named: new Map(), wild: [] }
  return matchFrom(split(pattern), 0, path, match) ? match : undefined
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
        const value = part.startsWith(':') ? match.named.get(part.slice(1)) : undefined
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

function matchFrom(parts: readonly string[], index: number, rest: string, match: PathMatch): boolean {
  const part = parts[index]
  if (part === undefined) return rest === ''
  if (part === '*') return matchWild(parts, index, rest, match)
  if (part.startsWith(':')) {
    const end = rest.indexOf('/')
    const value = end < 0 ? rest : rest.slice(0, end)
    if (value === '') return false
    match.named.set(part.slice(1), value)
    return matchFrom(parts, index + 1, rest.slice(value.length), match)
  }
  return rest.startsWith(part) && matchFrom(parts, index + 1, rest.slice(part.length), match)
}

/** All but the last `*` take as little as they can; a literal after one is looked for once. */
function matchWild(parts: readonly string[], index: number, rest: string, match: PathMatch): boolean {
  const wildAt = match.wild.length
  const isLast = !parts.slice(index + 1).includes('*')
  for (let length = isLast ? rest.length : 0; length >= 0 && length <= rest.length; length += isLast ? -1 : 1) {
    match.wild.length = wildAt
    match.wild.push(rest.slice(0, length))
    if (matchFrom(parts, index + 1, rest.slice(length), match)) return true
  }
  match.wild.length = wildAt
  return false
}
