import { expect, test } from 'vitest'
import { type Copying, copyProblem } from '../../../../server/apps/backups/offsite/copy-problem.ts'

const MINUTE = 60_000
const at = (minutes: number, rest: Partial<Copying> = {}): string | null =>
  copyProblem({ now: minutes * MINUTE, startedAt: 0, waitingSince: 0, problem: 'NoSuchBucket', told: null, ...rest })

test('that a bucket takes nothing is told after some minutes, once, and until all of it is there', () => {
  expect(at(4)).toBeNull()
  expect(at(5)).toBe('NoSuchBucket')
  expect(at(6, { told: 'NoSuchBucket', problem: 'another word' })).toBe('NoSuchBucket')
  expect(at(7, { told: 'NoSuchBucket', problem: undefined })).toBe('NoSuchBucket')
  expect(at(8, { told: 'NoSuchBucket', waitingSince: undefined })).toBeNull()
})

test('that it is slow is told after hours, and nothing of what was left from before a start', () => {
  expect(at(119, { problem: undefined })).toBeNull()
  expect(at(120, { problem: undefined })).toContain('hours behind')
  expect(at(120, { problem: undefined, startedAt: 100 * MINUTE })).toBeNull()
  expect(at(103, { startedAt: 100 * MINUTE })).toBeNull()
})
