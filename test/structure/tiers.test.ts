import { expect, test } from 'vitest'
import { tierOf } from '../../.scripts/tiers.ts'

test.each([
  ['test/shared/cursor.test.ts', 12, 'fast'],
  ['test/e2e/rollback.test.ts', 2499, 'fast'],
  ['test/e2e/rollback.test.ts', 2500, 'system'],
  ['test/e2e/upgrade.test.ts', 30_000, 'soak'],
  ['test/shared/brand-new.test.ts', undefined, 'fast'],
  ['test/e2e/brand-new.test.ts', undefined, 'system'],
])('%s that takes %s ms is %s', (file, ms, tier) => {
  expect(tierOf(file, ms)).toBe(tier)
})
