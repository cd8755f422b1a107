import { canonicalHostName } from '../../../shared/domain.ts'
import type { DnsAnswer, DnsResolver } from './resolver.ts'

export interface DnsObservation {
  texts: string[]
  chain: string[]
  isChainTooLong: boolean
  addresses: string[]
  failures: string[]
}

/** Longer chains are mistakes; resolvers themselves give up after some 8 to 16. */
const MAX_CHAIN = 8
const DEADLINE_MS = 10_000
/** Nobody needs more values, and all of them are kept and shown. */
const MAX_VALUES = 20

export const challengeNameOf = (name: string): string => `_cpd-challenge.${name}`

/** Asks DNS about a domain, at most 12 questions, not beyond `end`, where the chain should lead. Failures are part of the result, never thrown. */
export async function observeDns(
  resolver: DnsResolver,
  { name, end }: { name: string; end: string },
  signal: AbortSignal,
): Promise<DnsObservation> {
  const timer = setTimeout(() => resolver.cancel(), DEADLINE_MS)
  const stop = () => resolver.cancel()
  signal.addEventListener('abort', stop)
  try {
    const [texts, where] = await Promise.all([resolver.ask(challengeNameOf(name), 'TXT'), follow(resolver, name, end)])
    const failures = new Set([...where.failures, ...failuresOf([texts])])
    return { ...where, texts: valuesOf(texts), failures: [...failures] }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

async function follow(resolver: DnsResolver, name: string, end: string): Promise<Omit<DnsObservation, 'texts'>> {
  const chain: string[] = []
  const failures: string[] = []
  let current = name
  while (current !== end && chain.length < MAX_CHAIN) {
    const answer = await resolver.ask(current, 'CNAME')
    failures.push(...failuresOf([answer]))
    const target = canonicalHostName(valuesOf(answer)[0] ?? '')
    if (target === undefined) break
    current = target
    if (current === name || chain.includes(current)) return { chain, isChainTooLong: true, addresses: [], failures }
    chain.push(current)
  }
  if (current === end) return { chain, isChainTooLong: false, addresses: [], failures }
  if (chain.length === MAX_CHAIN) return { chain, isChainTooLong: true, addresses: [], failures }
  const answers = await Promise.all([resolver.ask(current, 'A'), resolver.ask(current, 'AAAA')])
  return { chain, isChainTooLong: false, addresses: answers.flatMap(valuesOf), failures: [...failures, ...failuresOf(answers)] }
}

const valuesOf = (answer: DnsAnswer): string[] => (answer.kind === 'records' ? answer.values.slice(0, MAX_VALUES) : [])
const failuresOf = (answers: DnsAnswer[]): string[] => answers.flatMap((answer) => (answer.kind === 'failed' ? [answer.reason] : []))
