import { expect, test } from 'vitest'
import { momentIn } from '../../cli/options/moment.ts'

const now = Date.parse('2026-11-20T12:00:00Z')

test.each([
  ['5 minutes ago', '2026-11-20T11:55:00.000Z'],
  ['90s', '2026-11-20T11:58:30.000Z'],
  ['1.5 hours', '2026-11-20T10:30:00.000Z'],
  ['2 days ago', '2026-11-18T12:00:00.000Z'],
  ['2026-11-20T10:15:00+01:00', '2026-11-20T09:15:00.000Z'],
])('%s is a moment', (text, moment) => {
  expect(momentIn(text, now)).toBe(moment)
})

test('what is no moment is told', () => {
  expect(() => momentIn('yesterday-ish', now)).toThrow('is no moment')
})
