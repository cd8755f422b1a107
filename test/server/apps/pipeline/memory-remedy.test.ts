import { expect, test } from 'vitest'
import { memoryRemedy } from '../../../../server/apps/pipeline/memory-remedy.ts'

test('the largest build plan has no larger one to choose', () => {
  expect(memoryRemedy({ name: 'web', buildPlan: 'performance' })).toBe(
    'its build plan performance has 16384 MiB, and none has more: let the build do less at a time',
  )
})
