import { expect, test } from 'vitest'
import { behindOf } from '../../../../server/apps/backups/rules/behind.ts'

const HOUR = 60 * 60_000
const now = 1000 * HOUR
const available = (hours: number) => ({ status: 'available', completedAt: now - hours * HOUR, reason: null }) as const
const failed = { status: 'failed', completedAt: null, reason: 'no room' } as const
const creating = { status: 'creating', completedAt: null, reason: null } as const
const of = (backups: Parameters<typeof behindOf>[0]['backups'], more: Partial<Parameters<typeof behindOf>[0]> = {}) =>
  behindOf({ backups, problem: null, copyProblem: null, expectedFrom: now - 100 * HOUR, now, ...more })

test('backups are behind when the newest failed or is damaged, and when none came for two days', () => {
  expect(of([available(30)])).toBeUndefined()
  expect(of([creating, available(30)])).toBeUndefined()
  expect(of([failed, available(30)])).toContain('no room')
  expect(of([creating, failed, available(30)])).toContain('no room')
  expect(of([available(1), failed])).toBeUndefined()
  expect(of([{ ...available(1), status: 'damaged' }, available(2)])).toContain('damaged')
  expect(of([available(49)])).toBe(`Its newest backup is of ${new Date(now - 49 * HOUR).toISOString()}.`)
  expect(of([creating])).toBe('There is no backup of it yet.')
  expect(of([], { expectedFrom: now - HOUR })).toBeUndefined()
})

test('a log that is not streamed comes first, and nobody waits for what is not taken by itself', () => {
  expect(of([failed], { problem: 'the slot is gone' })).toContain('the slot is gone')
  expect(of([available(1)], { copyProblem: 'no answer' })).toBe('They do not get to the bucket: no answer')
  expect(of([available(400)], { expectedFrom: undefined })).toBeUndefined()
})
