import { describe, expect, it } from 'vitest'
import { logFor } from '../../../../server/apps/backups/postgres/material.ts'
import type { StoredBackup } from '../../../../server/apps/backups/rows/backup-store.ts'
import { begunIn, walIn } from '../../../../server/apps/backups/rows/object-store.ts'
import { backupFor, chainOf, recoverable, windowsOf } from '../../../../server/apps/backups/rules/chain.ts'
import { continued, lineagesOf, versionIn } from '../../../../server/apps/backups/rules/lineages.ts'
import { retain } from '../../../../server/apps/backups/rules/retention.ts'
import { DAY_MS, nextBackup, nextSnapshot } from '../../../../server/apps/backups/rules/schedule.ts'
import {
  logFileOf,
  parseLsn,
  segmentName,
  segmentNumberAt,
  segmentNumberOf,
  timelineOf,
} from '../../../../server/apps/backups/rules/wal-names.ts'
import { isFaultOfMachine, nextDrillAt } from '../../../../server/apps/backups/work/drill.ts'

const hour = DAY_MS / 24

interface Given extends Partial<StoredBackup> {
  id: string
  day: number
}

/** Starts in the segment of the hour. */
const backup = ({ id, day, ...rest }: Given): StoredBackup => ({
  id,
  datastoreId: 'dpg-1',
  lineage: 0,
  kind: rest.parentId === undefined ? 'full' : 'incremental',
  parentId: null,
  origin: 'scheduled',
  status: 'available',
  timeline: 1,
  startLsn: lsnOf(day * 24),
  endLsn: lsnOf(day * 24),
  createdAt: day * DAY_MS,
  completedAt: day * DAY_MS + hour / 4,
  plainBytes: 1,
  verifiedAt: null,
  drilledAt: null,
  drillMs: null,
  reason: null,
  ...rest,
})

function lsnOf(segment: number): string {
  const bytes = BigInt(segment) * 16n * 1024n * 1024n
  return `${(bytes >> 32n).toString(16)}/${(bytes & 0xffffffffn).toString(16)}`
}

/** One segment an hour. */
const hourly = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ segment: segmentName(1, from + index), createdAt: (from + index + 1) * hour }))

describe('names in the log', () => {
  it('lead from positions to segments and back', () => {
    expect(segmentName(1, segmentNumberAt('2/A3000028'))).toBe('0000000100000002000000A3')
    expect(segmentNumberOf('0000000100000002000000A3')).toBe(segmentNumberAt('2/A3FFFFFF'))
    expect(segmentNumberOf(segmentName(7, 255)) + 1).toBe(segmentNumberOf(segmentName(7, 256)))
    expect(timelineOf('0000000A00000002000000A3')).toBe(10)
    expect(() => parseLsn('2A3')).toThrow('no position')
  })
})

describe('a chain', () => {
  const backups = [backup({ id: 'a', day: 0 }), backup({ id: 'b', day: 1, parentId: 'a' }), backup({ id: 'c', day: 2, parentId: 'b' })]

  it('begins with the full backup', () => {
    expect(chainOf(backups, 'c')?.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  it('is none where a link is missing, damaged, or leads in a circle', () => {
    expect(chainOf(backups.slice(1), 'c')).toBeUndefined()
    expect(chainOf(backups.with(1, backup({ id: 'b', day: 1, parentId: 'a', status: 'damaged' })), 'c')).toBeUndefined()
    expect(chainOf([backup({ id: 'x', day: 1, parentId: 'y' }), backup({ id: 'y', day: 1, parentId: 'x' })], 'x')).toBeUndefined()
  })
})

describe('the window', () => {
  const backups = [backup({ id: 'a', day: 0 }), backup({ id: 'b', day: 1, parentId: 'a' })]
  const now = 2 * DAY_MS

  it('reaches from the first backup to now, and a moment is recovered from the last backup before it', () => {
    const windows = recoverable(backups, hourly(0, 47), now)
    expect(windowsOf(windows)).toEqual([{ from: hour / 4, until: now }])
    expect(backupFor(windows, DAY_MS)?.id).toBe('a')
    expect(backupFor(windows, DAY_MS + hour)?.id).toBe('b')
    expect(backupFor(windows, hour / 8)).toBeUndefined()
    expect(backupFor(windows, now + 1)).toBeUndefined()
  })

  it('has a hole where a part of the log is missing', () => {
    const windows = recoverable(backups, [...hourly(0, 10), ...hourly(11, 47)], now)
    expect(windowsOf(windows)).toEqual([
      { from: hour / 4, until: 10 * hour },
      { from: DAY_MS + hour / 4, until: now },
    ])
    expect(backupFor(windows, 12 * hour)).toBeUndefined()
  })
})

describe('a log of two hundred thousand segments', () => {
  const segments = Array.from({ length: 200_000 }, (_, index) => ({ segment: segmentName(1, index), createdAt: index }))

  it('is looked through like any other', () => {
    const [window] = recoverable([backup({ id: 'a', day: 0 })], segments, 2 * DAY_MS)
    expect(window).toMatchObject({ from: hour / 4, until: 2 * DAY_MS })
    const log = segments.map(({ segment, createdAt }) => ({
      ...{ datastoreId: 'dpg-1', name: `wal/${segment}`, digest: '', plainBytes: 1, packedBytes: 1 },
      ...{ createdAt, uploadedAt: null, isLocal: true, isRemoving: false },
    }))
    expect(logFor(log, { chain: [backup({ id: 'a', day: 0 })] })).toHaveLength(segments.length)
    const again = { ...log[5], createdAt: 10 ** 9, digest: 'later' } as (typeof log)[number]
    expect(logFor([again, ...log], { chain: [backup({ id: 'a', day: 0 })] })[5]).toBe(again)
  })
})

describe('what is kept', () => {
  it('is all that any moment of the last days needs', () => {
    const backups = [
      backup({ id: 'a', day: 0 }),
      backup({ id: 'b', day: 1, parentId: 'a' }),
      backup({ id: 'c', day: 2, parentId: 'b' }),
      backup({ id: 'd', day: 3 }),
      backup({ id: 'e', day: 4, parentId: 'd' }),
    ]
    const at = (day: number) => retain(backups, { since: day * DAY_MS, now: 5 * DAY_MS, least: 1 })
    expect(at(2.5)).toEqual({ remove: [], walFrom: new Map([[0, 48]]) })
    expect(at(3.5)).toEqual({ remove: ['a', 'b', 'c'], walFrom: new Map([[0, 72]]) })
    expect(at(9)).toEqual({ remove: ['a', 'b', 'c'], walFrom: new Map([[0, 96]]) })
  })

  it('is of every lineage by itself: the log of one that has ended goes with its last backup', () => {
    const backups = [backup({ id: 'a', day: 0 }), backup({ id: 'b', day: 2, lineage: 1 }), backup({ id: 'c', day: 4, lineage: 1 })]
    const at = (day: number) => retain(backups, { since: day * DAY_MS, now: 5 * DAY_MS, least: 1 })
    const [former, today] = [0, 48]
    expect(at(1)).toEqual({
      remove: [],
      walFrom: new Map([
        [0, former],
        [1, today],
      ]),
    })
    expect(at(3)).toEqual({ remove: ['a'], walFrom: new Map([[1, today]]) })
  })

  it('stays where a clock jumps ahead, until as many newer ones are there as days are kept', () => {
    const backups = [0, 1, 2, 3].map((day) => backup({ id: `b${day}`, day }))
    const ahead = { since: 1000 * DAY_MS, now: 1007 * DAY_MS, least: 3 }
    expect(retain(backups, ahead)).toEqual({ remove: ['b0'], walFrom: new Map([[0, 24]]) })
    expect(retain(backups.slice(0, 3), ahead)).toEqual({ remove: [], walFrom: new Map([[0, 0]]) })
  })

  it('is never nothing, and forgets failures after a while', () => {
    const failed = backup({ id: 'f', day: 0, status: 'failed', completedAt: null, startLsn: null })
    const running = backup({ id: 'r', day: 0, status: 'creating', completedAt: null, startLsn: null })
    expect(retain([failed, running], { since: 100, now: DAY_MS, least: 7 })).toEqual({ remove: [], walFrom: new Map() })
    expect(retain([failed, running], { since: 100, now: 8 * DAY_MS, least: 7 })).toEqual({ remove: ['f'], walFrom: new Map() })
  })
})

describe('lineages', () => {
  const first = { lineage: 0, version: '15', former: [] }
  const second = { lineage: 1, version: '18', former: [{ lineage: 0, version: '15', until: 10 }] }

  it('begin with another cluster, and the one before ends then', () => {
    expect(continued(first, { lineage: 0, version: '15', since: 10 })).toBeUndefined()
    expect(continued(first, { lineage: 1, version: '18', since: 10 })).toEqual(second)
    expect(continued(second, { lineage: 2, version: '15', since: 20 })?.former).toEqual([
      ...second.former,
      { lineage: 1, version: '18', until: 20 },
    ])
  })

  it('have a version each, and a log whose names are their own', () => {
    expect([versionIn(second, 0), versionIn(second, 1)]).toEqual(['15', '18'])
    expect(lineagesOf(second)).toEqual([
      { lineage: 0, version: '15', until: 10 },
      { lineage: 1, version: '18' },
    ])
    expect([walIn(0), walIn(1), begunIn(0), begunIn(1)]).toEqual(['wal/', 'wal-1/', 'wal-begun/', 'wal-begun-1/'])
    expect(logFileOf(`${walIn(1)}000000010000000000000001`)).toBe('000000010000000000000001')
  })
})

describe('the next backup', () => {
  const next = (backups: StoredBackup[], day: number, canBeIncremental = true) =>
    nextBackup(
      backups.toSorted((a, b) => b.createdAt - a.createdAt),
      { now: day * DAY_MS, canBeIncremental },
    )

  it('is a full one at once, then a difference each day, then a full one after a week', () => {
    const full = backup({ id: 'a', day: 0 })
    expect(next([], 0)).toEqual({ at: 0, backup: { kind: 'full' } })
    expect(next([full], 0.1)).toEqual({ at: DAY_MS, backup: { kind: 'incremental', parentId: 'a' } })
    const week = [1, 2, 3, 4, 5, 6].map((day) => backup({ id: `b${day}`, day, parentId: day === 1 ? 'a' : `b${day - 1}` }))
    expect(next([full, ...week], 6.5)).toEqual({ at: 7 * DAY_MS, backup: { kind: 'incremental', parentId: 'b6' } })
    expect(next([full, ...week], 7)).toEqual({ at: 7 * DAY_MS, backup: { kind: 'full' } })
  })

  it('is full where the server can make no differences', () => {
    expect(next([backup({ id: 'a', day: 0 })], 0.1, false)).toEqual({ at: DAY_MS, backup: { kind: 'full' } })
  })

  it('is due by what is past, where a clock that was ahead has left some of days to come', () => {
    const ahead = backup({ id: 'z', day: 400 })
    expect(next([ahead], 1)).toEqual({ at: DAY_MS, backup: { kind: 'full' } })
    expect(next([ahead, backup({ id: 'a', day: 1 })], 1.1)).toEqual({ at: 2 * DAY_MS, backup: { kind: 'incremental', parentId: 'a' } })
    const snapshot = { now: DAY_MS, since: 0, isWanted: true }
    expect(nextSnapshot([ahead], snapshot).at).toBe(hour)
    expect(nextSnapshot([], { ...snapshot, since: 400 * DAY_MS }).at).toBe(DAY_MS + hour)
    expect(nextDrillAt([backup({ id: 'a', day: 0, drilledAt: 400 * DAY_MS })], DAY_MS)).toBe(hour / 4 + DAY_MS)
  })

  it('is a full one at once when the last was found damaged, and waits after a failure', () => {
    expect(next([backup({ id: 'a', day: 0 }), backup({ id: 'b', day: 1, parentId: 'a', status: 'damaged' })], 1.1).at).toBe(1.1 * DAY_MS)
    const failed = backup({ id: 'f', day: 1, status: 'failed' })
    expect(next([failed], 1)).toEqual({ at: DAY_MS + hour, backup: { kind: 'full' } })
    expect(next([backup({ id: 'a', day: 0 }), failed], 1)).toEqual({ at: DAY_MS + hour, backup: { kind: 'incremental', parentId: 'a' } })
  })
})

describe('a drill that fails', () => {
  const end = { isDone: false, exitCode: 1, isOutOfMemory: false, output: 'PANIC: could not locate a valid checkpoint record' }

  it('says that the backup is damaged where its own program has ended, and nothing of it where the machine was short of something', () => {
    expect(isFaultOfMachine(end)).toBe(false)
    expect(isFaultOfMachine({ ...end, exitCode: 0, isDone: true })).toBe(false)
    expect(isFaultOfMachine({ ...end, isOutOfMemory: true })).toBe(true)
    expect(isFaultOfMachine({ ...end, exitCode: undefined })).toBe(true)
    expect(isFaultOfMachine({ ...end, exitCode: 137 })).toBe(true)
    expect(isFaultOfMachine({ ...end, output: 'FATAL: could not extend file: No space left on device' })).toBe(true)
  })
})
