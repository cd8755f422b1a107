import { expect, test } from 'vitest'
import { lagMs } from '../../../../server/apps/replication/lag.ts'

test('one that has replayed all there was is not behind, however long ago that was written', () => {
  expect(lagMs('0/3000060', { lsn: '0/3000060', committedAt: 0 }, 5000)).toBe(0)
  expect(lagMs('0/3000060', { lsn: '1/0', committedAt: undefined }, 5000)).toBe(0)
})

test('one that has not is behind since what it replayed last was committed', () => {
  expect(lagMs('1/0', { lsn: '0/FFFFFFF0', committedAt: 2000 }, 5000)).toBe(3000)
  expect(lagMs('1/0', { lsn: '0/3000060', committedAt: 6000 }, 5000)).toBe(0)
  expect(lagMs('1/0', { lsn: '0/3000060', committedAt: undefined }, 5000)).toBeUndefined()
})
