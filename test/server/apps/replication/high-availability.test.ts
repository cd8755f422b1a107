import { expect, test } from 'vitest'
import { isToFailOver } from '../../../../server/apps/replication/high-availability.ts'

const broken = { restarts: 5, isRunning: false, isStandbyInStep: true }

test('a standby takes over from a server that ends again and again, and from no other', () => {
  expect(isToFailOver(broken)).toBe(true)
  expect(isToFailOver({ ...broken, restarts: 4 })).toBe(false)
  expect(isToFailOver({ ...broken, isRunning: true })).toBe(false)
  expect(isToFailOver({ ...broken, isStandbyInStep: false })).toBe(false)
})
