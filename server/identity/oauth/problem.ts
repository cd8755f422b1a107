import { messageOf } from '../../../shared/error.ts'
import { OutgoingProblem } from '../../platform/outgoing/problem.ts'

export type ExchangeProblem = 'oauth_refused' | 'oauth_unavailable'

const MAX_CAUSES = 5

export function problemOfExchange(error: unknown): ExchangeProblem {
  const outgoing = causesOf(error).find((cause) => cause instanceof OutgoingProblem)
  return outgoing === undefined || outgoing.kind === 'refused' ? 'oauth_refused' : 'oauth_unavailable'
}

/** Messages name claims, hosts and statuses, and hold no token. */
export const explanationOf = (error: unknown): string => causesOf(error).map(messageOf).join(': ')

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause !== undefined && causes.length < MAX_CAUSES; cause = cause instanceof Error ? cause.cause : undefined) {
    causes.push(cause)
  }
  return causes
}
