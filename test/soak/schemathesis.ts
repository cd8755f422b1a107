import { operationIds } from '../../shared/operations/all.ts'
import { callers, examineAs } from '../schemathesis/callers.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

export interface SchemathesisOptions {
  /** At least as many are sent, shared by the callers. */
  requests: number
  seed: number
}

/** What the phases that follow the document send of each operation by themselves, about. */
const SYSTEMATIC_REQUESTS = 50
const TIMEOUT_MS = 3_600_000

/** Everything that Schemathesis knows to ask of the OpenAPI document, as administrator, viewer and nobody. */
export async function schemathesis({ requests, seed }: SchemathesisOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const each = requests / callers.length / operationIds.length
  const examplesPerOperation = Math.max(2, Math.ceil(each - SYSTEMATIC_REQUESTS))
  const failures: string[] = []
  const told: string[] = []
  let sent = 0
  for (const caller of callers) {
    for (let round = 0; sent < requests && (round === 0 || isLast(caller)); round++) {
      const findings = await examineAs(caller, {
        seed: seed + round,
        examplesPerOperation,
        phases: ['examples', 'coverage', 'fuzzing', 'stateful'],
        timeoutMs: TIMEOUT_MS,
      })
      sent += findings.requests
      failures.push(...findings.failures.map((failure) => `as ${caller}: ${failure}`))
      told.push(`${caller} ${findings.requests}`)
      progress(`${caller}: ${findings.requests} requests of ${findings.operations} operations, ${findings.failures.length} failures`)
    }
  }
  return { summary: `${sent} requests (${told.join(', ')}) in ${secondsSince(startedAt)} s, ${failures.length} failures`, failures }
}

/** Whoever is asked last goes on until there were enough. */
const isLast = (caller: (typeof callers)[number]): boolean => caller === callers.at(-1)
