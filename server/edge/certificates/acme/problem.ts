import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** An error as authorities report it (RFC 8555 section 6.7). */
const ProblemDocument = Type.Object({
  type: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  subproblems: Type.Optional(Type.Array(Type.Object({ type: Type.Optional(Type.String()), detail: Type.Optional(Type.String()) }))),
})
type ProblemDocument = Static<typeof ProblemDocument>

const TYPE_PREFIX = 'urn:ietf:params:acme:error:'
const MAX_DETAIL_CHARS = 500

/** Our own types: the authority did not answer, answered nonsense, or did not end in time; or the hook failed. */
export type OwnProblemType = 'unreachable' | 'badAnswer' | 'timeout' | 'dnsHook'

export class AcmeProblem extends Error {
  /** A type of RFC 8555 without its prefix, or one of our own. */
  readonly type: string
  readonly retryAfterMs: number | undefined

  constructor(type: string | OwnProblemType, detail: string, options: { retryAfterMs?: number | undefined; cause?: unknown } = {}) {
    super(printable(detail), { cause: options.cause })
    this.name = 'AcmeProblem'
    this.type = type
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Reads a problem document; anything may stand in it, also nothing. */
export function problemOf(document: unknown, options: { fallback?: string; retryAfterMs?: number | undefined } = {}): AcmeProblem {
  const { type, detail, subproblems } = Value.Check(ProblemDocument, document) ? document : ({} as ProblemDocument)
  const name = type?.startsWith(TYPE_PREFIX) ? type.slice(TYPE_PREFIX.length) : undefined
  const first = name === 'compound' ? subproblems?.[0] : undefined
  if (first !== undefined) return problemOf(first, options)
  return new AcmeProblem(name ?? 'badAnswer', detail ?? options.fallback ?? 'no reason given', { retryAfterMs: options.retryAfterMs })
}

export const isBadNonce = (document: unknown): boolean =>
  Value.Check(ProblemDocument, document) && document.type === `${TYPE_PREFIX}badNonce`

/** The authority's words end in logs, events and terminals. */
const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_DETAIL_CHARS)
