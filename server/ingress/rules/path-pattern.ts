export interface PathMatch {
  named: Map<string, string>
  wild: string[]
}

export type PathPattern = readonly (readonly string[])[]

export const compilePattern = (pattern: string): PathPattern => pattern.split('*').map(split)

export const MAX_RULE_PATH_CHARS = 4096
/** About a millisecond: many times what two hundred ordinary rules need. */
const MAX_STEPS = 20_000
/** Comparing so many characters at once costs about as much as a step. */
const CHARS_PER_STEP_LOG2 = 14

/** What all rules together may cost one request: patterns and paths come from different strangers, who may be one. */
export class MatchBudget {
  #left = MAX_STEPS

  get used(): number {
    return MAX_STEPS - this.#left
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  spend(steps: number): void {
    this.#left -= steps
  }
}

/**
 * Matches a decoded path against a pattern in which `:name` stands for one segment and `*` for anything, slashes included.
 * Each `*` but the last takes as little as it can, and never reconsiders. When the budget is spent, nothing matches any more.
 */
export function matchPath(pattern: PathPattern, path: string, budget: MatchBudget): PathMatch | undefined {
  if (path.length > MAX_RULE_PATH_CHARS || budget.isSpent) return undefined
  const match: PathMatch = { named: new Map(), wild: [] }
  const [first = [], ...blocks] = pattern
  const search = { path, named: match.named, budget }
  let at = matchBlock(first, search, 0)
  if (at < 0 || (blocks.length === 0 && at < path.length)) return undefined
  for (const [index, block] of blocks.entries()) {
    const found = index < blocks.length - 1 ? findBlock(block, search, at) : findLastBlock(block, search, at)
    if (found === undefined) return undefined
    match.wild.push(path.slice(at, found.from))
    at = found.to
  }
  return match
}

/**
 * Puts what was matched into a destination; each placeholder it does not know stays as it is. A path stays one of this host, also where
 * what `*` stood for begins with a slash: `//host` would be that of another.
 */
export function fillPath(destination: string, match: PathMatch): string {
  const wild = [...match.wild]
  const isUrl = /^https?:\/\//.exec(destination)?.[0] ?? ''
  const path = split(destination.slice(isUrl.length))
    .map((part) => {
      if (part === '*') return encode(wild.shift() ?? '')
      const value = isName(part) ? match.named.get(part.slice(1)) : undefined
      return value === undefined ? part : encode(value)
    })
    .join('')
  return isUrl === '' ? path.replace(/^\/{2,}/, '/') : isUrl + path
}

function encode(value: string): string {
  return value.split('/').map(encodeURIComponent).join('/')
}

function split(pattern: string): string[] {
  return pattern.split(/(\*|(?<=\/):[A-Za-z0-9_]+)/).filter((part) => part !== '')
}

interface Search {
  path: string
  named: Map<string, string>
  budget: MatchBudget
}

interface Found {
  from: number
  to: number
}

function findBlock(block: readonly string[], search: Search, at: number): Found | undefined {
  for (let from = literalAt(block, search, at); from >= 0; from = literalAt(block, search, from + 1)) {
    const to = matchBlock(block, search, from)
    if (to >= 0) return { from, to }
  }
  return undefined
}

function findLastBlock(block: readonly string[], search: Search, at: number): Found | undefined {
  const { path } = search
  if (block.length <= 1) {
    const from = path.length - (block[0] ?? '').length
    return from >= at && matchBlock(block, search, from) >= 0 ? { from, to: path.length } : undefined
  }
  for (let from = literalAt(block, search, at); from >= 0; from = literalAt(block, search, from + 1)) {
    if (matchBlock(block, search, from) === path.length) return { from, to: path.length }
  }
  return undefined
}

function literalAt([literal = '']: readonly string[], { path, budget }: Search, at: number): number {
  if (budget.isSpent) return -1
  const found = path.indexOf(literal, at)
  const scanned = (found < 0 ? path.length : found) - at
  budget.spend(1 + ((scanned * literal.length) >> CHARS_PER_STEP_LOG2))
  return found
}

function matchBlock(block: readonly string[], { path, named, budget }: Search, from: number): number {
  let at = from
  for (const part of block) {
    budget.spend(1)
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

function isName(part: string): boolean {
  return part.startsWith(':')
}
