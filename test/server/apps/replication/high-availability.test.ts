import { expect, test } from 'vitest'
import { isAtEndOfLog } from '../../../../server/apps/replication/handed-over.ts'
import { firstStepOf, isToFailOver } from '../../../../server/apps/replication/high-availability.ts'

const broken = { endedAt: [11, 12, 13, 14, 15], cameUpAt: 10, isRunning: false, isStandbyInStep: true }

test('a standby takes over from a server that ends again and again, and from no other', () => {
  expect(isToFailOver(broken)).toBe(true)
  expect(isToFailOver({ ...broken, endedAt: [11, 12, 13, 14] })).toBe(false)
  expect(isToFailOver({ ...broken, isRunning: true })).toBe(false)
  expect(isToFailOver({ ...broken, isStandbyInStep: false })).toBe(false)
})

test('a standby has all of its primary when the last that it has replayed is the checkpoint of an end in order', () => {
  const ended = { checkpointLsn: '0/3000060', redoLsn: '0/3000060', replayedLsn: '0/30000D8' }
  expect(isAtEndOfLog(ended)).toBe(true)
  expect(isAtEndOfLog({ ...ended, redoLsn: '0/3000028' })).toBe(false)
  expect(isAtEndOfLog({ ...ended, replayedLsn: '0/3000160' })).toBe(false)
  expect(isAtEndOfLog({ ...ended, replayedLsn: '0/3000060' })).toBe(false)
  expect(isAtEndOfLog({ ...ended, checkpointLsn: '0/FFFFF0', redoLsn: '0/FFFFF0', replayedLsn: '0/1000070' })).toBe(true)
})

test('ends of a server that came up again between them are not added up, however many there were', () => {
  const months = { ...broken, endedAt: [1, 2, 3, 4, 5, 6, 7, 8, 9, 11] }
  expect(isToFailOver(months)).toBe(false)
  expect(isToFailOver({ ...months, cameUpAt: undefined })).toBe(true)
})

test('a failover that was asked for looks whether the standby has all, where a server runs or may come up still', () => {
  expect((['running', 'starting', 'stopping'] as const).map((phase) => firstStepOf([{ phase }]))).toEqual(['handing', 'handing', 'handing'])
  expect([firstStepOf([]), firstStepOf([{ phase: 'pending' }])]).toEqual(['fencing', 'fencing'])
})
