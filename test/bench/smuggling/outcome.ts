import type { Payload } from '../../security/s19-payloads.ts'
import { readRequests } from '../../support/strict-http.ts'

/**
 * What became of a payload. `refused`: no whole request reached the instance. `passed`: as many as were meant did, in strict form.
 * `repaired`: it should have been refused, and arrived as one request in strict form, so the proxy guessed what was meant. `ambiguous`:
 * what arrived has to be guessed at by the instance. `more`: more requests arrived than were meant: the hidden one was one of them.
 */
export type Outcome = 'refused' | 'passed' | 'repaired' | 'ambiguous' | 'more'

/** `passed` is what reached the instance, by connection. */
export function outcomeOf({ arrives }: Payload, passed: readonly string[]): Outcome {
  const count = countOf(passed)
  if (count === undefined) return 'ambiguous'
  if (count === 0) return 'refused'
  if (count > Math.max(1, arrives)) return 'more'
  if (arrives === 0) return 'repaired'
  return count === arrives ? 'passed' : 'refused'
}

/** Whole requests; undefined where a strict reader would have to guess. */
function countOf(passed: readonly string[]): number | undefined {
  try {
    return passed.reduce((sum, text) => sum + readRequests(text).requests.length, 0)
  } catch {
    return undefined
  }
}
