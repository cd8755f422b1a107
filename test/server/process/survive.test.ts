import { expect, test } from 'vitest'
import { createErrorBudget, ERROR_WINDOW_MS, MAX_ERRORS } from '../../../server/process/survive.ts'

test('errors that nobody caught end a process only in a burst', () => {
  let now = 0
  const budget = createErrorBudget(() => now)
  for (let window = 0; window < 3; window += 1) {
    for (let error = 0; error < MAX_ERRORS; error += 1) expect(budget.mayGoOn()).toBe(true)
    now += ERROR_WINDOW_MS
  }
  for (let error = 0; error < MAX_ERRORS; error += 1) budget.mayGoOn()
  expect(budget.mayGoOn()).toBe(false)
})
