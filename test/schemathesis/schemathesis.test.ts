import { expect, test } from 'vitest'
import { operationIds } from '../../shared/api.ts'
import { callers, examineAs } from './callers.ts'

const TIMEOUT_MS = 120_000

// The long run, with all phases, is `npx bun test/soak/main.ts schemathesis`.
test.each(callers)(
  'as %s: no internal error, no status, header or body that the OpenAPI document does not know',
  async (caller) => {
    const { requests, operations, failures } = await examineAs(caller, {
      seed: 1,
      examplesPerOperation: 2,
      phases: ['examples', 'fuzzing'],
      timeoutMs: TIMEOUT_MS,
    })
    expect(failures).toEqual([])
    expect(operations).toBe(operationIds.length)
    expect(requests).toBeGreaterThan(operations)
  },
  TIMEOUT_MS,
)
