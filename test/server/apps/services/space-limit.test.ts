import { expect, test } from 'vitest'
import { spaceLimitOf } from '../../../../server/apps/services/space-limit.ts'

test('the limit is what both plans of the service give, in space and in files', () => {
  const mb = 1024 + 10_240
  expect(spaceLimitOf({ plan: 'free', buildPlan: 'starter' })).toEqual({ mb, files: mb * 128 })
})
