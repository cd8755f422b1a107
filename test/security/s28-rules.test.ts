import { expect, test } from 'vitest'
import { createAddressReader } from '../../server/http/limits/client-address.ts'
import { compilePattern, MAX_RULE_PATH_CHARS, MatchBudget, matchPath } from '../../server/ingress/rules/path-pattern.ts'
import { compileRules, redirectOf } from '../../server/ingress/rules/path-rules.ts'
import { forwardedClient } from '../../shared/forwarded-client.ts'

/** What the budget allows, with what a rule may take beyond it before it notices. */
const MOST_STEPS = 21_000

/** Steps that all of these rules take together of a path that fits none of them. */
function stepsOf(patterns: readonly string[], path: string): number {
  const budget = new MatchBudget()
  for (const pattern of patterns) expect(matchPath(compilePattern(pattern), path, budget)).toBeUndefined()
  return budget.used
}

const long = (unit: string, chars: number): string => unit.repeat(Math.floor(chars / unit.length))
const hostile: [string, string[], string][] = [
  ['stars between letters', [`/${'*a'.repeat(500)}`], `/${long('a', MAX_RULE_PATH_CHARS - 2)}b`],
  ['a literal that nearly fits everywhere', [`/*${long('a', 1000)}b*`], `/${long('a', MAX_RULE_PATH_CHARS - 1)}`],
  ['names behind a star', [`/*${'/:a'.repeat(300)}/x`], long('/a', MAX_RULE_PATH_CHARS)],
  ['two hundred of them', Array(200).fill(`/*${'/:a'.repeat(25)}/x`), long('/a', MAX_RULE_PATH_CHARS)],
]

test.each(hostile)('S28: %s cost a bounded number of steps', (_, patterns, path) => {
  expect(stepsOf(patterns, path)).toBeLessThan(MOST_STEPS)
})

test('S28: literals cost no more than twice the steps for twice the path', () => {
  const patterns = ['/*b*', `/${'*ab'.repeat(20)}c`, `/*${'a'.repeat(100)}c`]
  for (const pattern of patterns) {
    const [once, twice] = [1000, 2000].map((chars) => stepsOf([pattern], `/${long('a', chars)}`))
    expect(twice).toBeLessThanOrEqual(2 * (once ?? 0) + 2)
  }
})

test('S28: two hundred ordinary rules are looked at to the last one, for the longest path', () => {
  const rules = Array.from({ length: 200 }, (_, index) => ({
    type: 'redirect' as const,
    source: `/blog-${index}/*/page/:id`,
    destination: '/x',
  }))
  const path = `/blog-199/${long('segment/', MAX_RULE_PATH_CHARS - 100)}page/7`
  expect(redirectOf(compileRules({ rules }), path, '')).toEqual({ location: '/x', status: 301 })
})

test('S28: a longer path matches no rule', () => {
  const pattern = compilePattern('/*')
  expect(matchPath(pattern, `/${'a'.repeat(MAX_RULE_PATH_CHARS - 1)}`, new MatchBudget())).toBeDefined()
  expect(matchPath(pattern, `/${'a'.repeat(MAX_RULE_PATH_CHARS)}`, new MatchBudget())).toBeUndefined()
})

test('S28: rules of old that are too long together are left out by name, and the others hold', () => {
  const source = `/${'a'.repeat(1000)}`
  const rules = Array.from({ length: 200 }, (_, index) => ({ type: 'redirect' as const, source: `${source}${index}`, destination: '/x' }))
  const compiled = compileRules({ rules })
  expect(compiled.redirects.length + compiled.leftOut.length).toBe(200)
  expect(compiled.leftOut).toContain(`${source}199`)
  expect(redirectOf(compiled, `${source}0`, '')).toBeDefined()
})

test('S28: of thousands of forwarded addresses a bounded number is looked at', () => {
  let looks = 0
  const isTrusted = () => ++looks > 0
  expect(forwardedClient('10.0.0.1', Array(16_000).fill('10.0.0.2').join(), isTrusted)).toBe('10.0.0.2')
  expect(looks).toBeLessThan(100)
})

test('S28: of thousands of proofs only the last one counts, which is that of the ingress', () => {
  const clientOf = createAddressReader(() => false, 'proof')
  const answer = (proof: string) => clientOf('127.0.0.1', new Headers({ 'x-forwarded-for': '192.0.2.1', 'x-cpd-ingress': proof }))
  expect(answer(`${','.repeat(16_000)} proof`)).toBe('192.0.2.1')
  expect(answer('a guess, proof')).toBe('192.0.2.1')
  expect(answer(`proof${',guess'.repeat(3000)}`)).toBe('127.0.0.1')
})
