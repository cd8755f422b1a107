import { expect, test } from 'vitest'
import { operationIds } from '../../shared/operations/all.ts'
import { callers, examineAs } from './callers.ts'

const TIMEOUT_MS = 480_000

// What can be said of each operation without chance. The long run, which makes requests up, is `npx bun test/soak/main.ts schemathesis`.
test.each(callers)(
  'as %s: no internal error, no status, header or body that the OpenAPI document does not know',
  async (caller) => {
    const { requests, operations, failures } = await examineAs(caller, {
      seed: 1,
      examplesPerOperation: 1,
      phases: caller === 'nobody' ? ['examples'] : ['examples', 'coverage'],
      // Who may do little is mostly refused before what breaks a schema is looked at.
      isPositiveOnly: caller !== 'admin',
      timeoutMs: TIMEOUT_MS,
    })
    expect(failures).toEqual([])
    expect(operations).toBe(operationIds.length)
    expect(requests).toBeGreaterThan(100)
  },
  TIMEOUT_MS,
)
