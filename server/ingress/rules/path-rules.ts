import { maxPatternChars } from '../../../shared/edge-rule.ts'
import { isReservedHeader } from '../../../shared/header-rule.ts'
import type { Header } from '../message/header.ts'
import type { HeaderRule, PathRule } from '../tables/route-table.ts'
import { compilePattern, fillPath, MatchBudget, matchPath, type PathPattern } from './path-pattern.ts'

export interface CompiledRule {
  pattern: PathPattern
  destination: string
  status: number
}

interface CompiledHeader {
  pattern: PathPattern
  header: Header
}

interface EdgeRules {
  rules?: readonly PathRule[]
  headers?: readonly HeaderRule[]
}

export interface PathRules {
  redirects: readonly CompiledRule[]
  rewrites: readonly CompiledRule[]
  /** The last first: a later rule for a header takes the place of an earlier one. */
  headers: readonly CompiledHeader[]
  leftOut: readonly string[]
}

export const DEFAULT_REDIRECT = 301

/**
 * Rules for headers that frame the message or the connection are left out: those are ours, whatever a rule says. So are those whose
 * patterns are too long together, which stand in databases from before there was a bound.
 */
export function compileRules({ rules: allRules = [], headers: allHeaders = [] }: EdgeRules): PathRules {
  const { rules, headers, leftOut } = withinBound({ rules: allRules, headers: allHeaders })
  const ofType = (type: PathRule['type']) => rules.filter((rule) => rule.type === type).map(compileRule)
  return {
    leftOut,
    redirects: ofType('redirect'),
    rewrites: ofType('rewrite'),
    headers: headers
      .filter(({ name }) => !isReservedHeader(name))
      .map(compileHeader)
      .reverse(),
  }
}

function withinBound({ rules, headers }: Required<EdgeRules>): Required<EdgeRules> & { leftOut: string[] } {
  const leftOut: string[] = []
  let chars = 0
  const fits = (pattern: string) => {
    const isFitting = chars + pattern.length <= maxPatternChars
    if (isFitting) chars += pattern.length
    else leftOut.push(pattern)
    return isFitting
  }
  return { rules: rules.filter(({ source }) => fits(source)), headers: headers.filter(({ path }) => fits(path)), leftOut }
}

const compileRule = ({ source, destination, status }: PathRule): CompiledRule => ({
  pattern: compilePattern(source),
  destination,
  status: status ?? DEFAULT_REDIRECT,
})

const compileHeader = ({ path, name, value }: HeaderRule): CompiledHeader => ({ pattern: compilePattern(path), header: [name, value] })

export function redirectOf({ redirects }: PathRules, path: string, query: string): { location: string; status: number } | undefined {
  const budget = new MatchBudget()
  for (const { pattern, destination, status } of redirects) {
    const match = matchPath(pattern, path, budget)
    if (match === undefined) continue
    const location = fillPath(destination, match)
    return { location: location.includes('?') ? location : location + query, status }
  }
  return undefined
}

export function ruledHeaders({ headers }: PathRules, path: string): Header[] {
  const result: Header[] = []
  const budget = new MatchBudget()
  for (const { pattern, header } of headers) {
    const isSet = result.some(([name]) => name.toLowerCase() === header[0].toLowerCase())
    if (!isSet && matchPath(pattern, path, budget) !== undefined) result.push(header)
  }
  return result
}
