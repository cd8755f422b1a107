import { describe, expect, test } from 'vitest'
import type { UpgradeJournal } from '../../../../server/boot/upgrade/journal.ts'
import { backupName, backupsToRemove, parseVersion, refusalOf, repairOf } from '../../../../server/boot/upgrade/rules.ts'

describe('a version that is offered', () => {
  test.each([
    ['1.2.3', '1.2.4', undefined],
    ['1.2.3', '2.0.0', undefined],
    ['1.2.3-beta.1', '1.2.3', undefined],
    ['1.2.3', '1.2.3', '1.2.3 is the version that runs.'],
    ['1.10.0', '1.9.9', '1.9.9 is older than 1.10.0, which runs.'],
    ['1.2.3', '1.2.3-beta.1', '1.2.3-beta.1 is older than 1.2.3, which runs.'],
  ])('where %s runs, %s: %s', (running, offered, refusal) => {
    const actual = refusalOf({ running, offered, isForced: false })
    if (refusal === undefined) expect(actual).toBeUndefined()
    else expect(actual).toContain(refusal)
    expect(refusalOf({ running, offered, isForced: true })).toBeUndefined()
  })
})

test.each([
  ['1.2.3\n', '1.2.3'],
  ['1.2.3-rc.1+5', '1.2.3-rc.1+5'],
  ['v1.2.3', undefined],
  ['bun 1.2.3', undefined],
  ['1.2', undefined],
  ['', undefined],
])('%j is the version %s', (output, version) => expect(parseVersion(output)).toBe(version))

test('a start drops what was being prepared, goes back from a trial, goes on from a commit, and leaves the rest alone', () => {
  const at = (step: UpgradeJournal['step']): UpgradeJournal => ({
    step,
    executable: '/x/cpd',
    staged: '/x/cpd.next',
    from: '1.0.0',
    to: '1.1.0',
    startedAt: 1,
  })
  expect(repairOf(undefined, false)).toBe('none')
  expect(repairOf(at('staging'), true)).toBe('discard')
  expect(repairOf(at('staging'), false)).toBe('discard')
  expect(repairOf(at('trial'), true)).toBe('roll-back')
  expect(repairOf(at('commit'), true)).toBe('install')
  expect(repairOf(at('commit'), false)).toBe('conclude')
  expect(repairOf(at('done'), false)).toBe('none')
  expect(repairOf(at('rolled_back'), true)).toBe('none')
})

test('the five newest backups are kept, and what is no backup is left alone', () => {
  const names = Array.from({ length: 8 }, (_, day) => backupName(new Date(Date.UTC(2026, 0, day + 1)), '1.0.0'))
  expect(names[0]).toBe('20260101T000000-1.0.0')
  expect(backupsToRemove([...names, 'mine'].reverse())).toEqual(names.slice(0, 3))
  expect(backupsToRemove(names.slice(0, 5))).toEqual([])
})
