import { expect, test } from 'vitest'
import type { StoredBackup } from '../../../../server/apps/backups/rows/backup-store.ts'
import { chainOf, recoverable, type WalSegment, windowsOf } from '../../../../server/apps/backups/rules/chain.ts'
import { retain } from '../../../../server/apps/backups/rules/retention.ts'
import { DAY_MS, nextBackup } from '../../../../server/apps/backups/rules/schedule.ts'
import { segmentName, segmentNumberOf } from '../../../../server/apps/backups/rules/wal-names.ts'
import { randomNumbers } from '../../../support/random-numbers.ts'

/** Months of a database whose backups fail, are cut off by kills and get damaged, decided upon as the platform does, with nothing taken. */

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 20)
const DAYS = 40
const HOUR_MS = DAY_MS / 24
const RETENTION_DAYS = 7
const RETENTION_MS = RETENTION_DAYS * DAY_MS
const SEGMENT_BYTES = 16n * 1024n * 1024n
const MOST_LINKS = 8

interface Life {
  below(limit: number): number
  now: number
  /** Newest first. */
  backups: StoredBackup[]
  wal: WalSegment[]
}

const hourOf = (at: number): number => Math.floor(at / HOUR_MS)

/** One segment of the log is filled in an hour. */
function lsnAt(at: number): string {
  const bytes = BigInt(hourOf(at)) * SEGMENT_BYTES
  return `${(bytes >> 32n).toString(16)}/${(bytes & 0xffffffffn).toString(16)}`
}

function passHours(life: Life, hours: number): void {
  for (let hour = 0; hour < hours; hour++) {
    life.now += HOUR_MS
    // A receiver that was away for too long leaves a gap.
    if (life.below(150) > 0) life.wal.push({ segment: segmentName(1, hourOf(life.now) - 1), createdAt: life.now })
  }
}

const change = (life: Life, id: string, to: Partial<StoredBackup>): void => {
  life.backups = life.backups.map((one) => (one.id === id ? { ...one, ...to } : one))
}

function takeDue(life: Life, outcome: 'taken' | 'failed' | 'killed'): void {
  const { backups, now } = life
  const due = nextBackup(backups, { now, canBeIncremental: true })
  const begun = backups.find(({ status }) => status === 'creating')
  if (begun === undefined && due.at > now) return
  const id = begun?.id ?? `bak-${backups.length}-${now}`
  if (begun === undefined) {
    const parentId = due.backup.kind === 'full' ? null : due.backup.parentId
    life.backups = [{ ...empty, id, kind: due.backup.kind, parentId, status: 'creating', createdAt: now }, ...backups]
  }
  if (outcome === 'failed') change(life, id, { status: 'failed' })
  if (outcome === 'taken') change(life, id, { status: 'available', startLsn: lsnAt(now), endLsn: lsnAt(now), completedAt: now })
}

const empty: Omit<StoredBackup, 'id' | 'kind' | 'parentId' | 'status' | 'createdAt'> = {
  ...{ datastoreId: 'dpg-1', lineage: 0, origin: 'scheduled', timeline: 1, startLsn: null, endLsn: null, completedAt: null },
  ...{ plainBytes: 1, verifiedAt: null, drilledAt: null, drillMs: null, reason: null },
}

/** What can be recovered to, of the days for which backups are kept. */
const windows = ({ backups, wal, now }: Life) =>
  windowsOf(recoverable(backups, wal, now))
    .map(({ from, until }) => ({ from: Math.max(from, now - RETENTION_MS), until }))
    .filter(({ from, until }) => from <= until)

/** Removes what nobody needs; a kill leaves the rest to the next, and one that has begun to go. */
function forget(life: Life, isKilled: boolean): void {
  const { remove, walFrom } = retain(life.backups, { since: life.now - RETENTION_MS, now: life.now, least: RETENTION_DAYS })
  const from = walFrom.get(0)
  const reached = isKilled ? life.below(remove.length + 1) : remove.length
  life.backups = life.backups.filter(({ id }) => !remove.slice(0, reached).includes(id))
  const going = remove[reached]
  if (going !== undefined) change(life, going, { status: 'deleting' })
  else if (from !== undefined) life.wal = life.wal.filter(({ segment }) => segmentNumberOf(segment) >= from)
}

const soundOf = ({ backups }: Life): StoredBackup[] => backups.filter(({ id }) => chainOf(backups, id) !== undefined)

function expectBounds(life: Life, told: string): void {
  const { backups } = life
  expect(backups.filter(({ status }) => status === 'creating').length, told).toBeLessThanOrEqual(1)
  for (const { id } of soundOf(life)) expect(chainOf(backups, id)?.length, told).toBeLessThanOrEqual(MOST_LINKS)
}

test('whatever fails, is killed or damaged, nothing is forgotten that a moment of the last days can be recovered from', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const below = randomNumbers(seed)
    const life: Life = { below, now: 1000 * DAY_MS, backups: [], wal: [] }
    while (life.now < (1000 + DAYS) * DAY_MS) {
      const told = `seed ${seed}, day ${(life.now / DAY_MS).toFixed(2)}`
      passHours(life, 1 + below(9))
      takeDue(life, (['taken', 'taken', 'taken', 'failed', 'killed'] as const)[below(5)] ?? 'taken')
      const victim = below(25) === 0 ? soundOf(life)[below(3)] : undefined
      if (victim !== undefined) change(life, victim.id, { status: 'damaged' })
      const before = windows(life)
      forget(life, below(3) === 0)
      expect(windows(life), told).toEqual(before)
      expectBounds(life, told)
    }
    // All goes well again: within two days there is a whole chain, which is all that stays after the days that are kept.
    for (let step = 0; step < 10 * 24; step++) {
      passHours(life, 1)
      takeDue(life, 'taken')
      forget(life, false)
      if (step > 48) expect(life.now - (soundOf(life)[0]?.createdAt ?? 0), `seed ${seed}`).toBeLessThanOrEqual(DAY_MS + HOUR_MS)
    }
    expect(life.backups.length, `seed ${seed}`).toBeLessThanOrEqual(3 * MOST_LINKS)
    expect(life.wal.length, `seed ${seed}`).toBeLessThanOrEqual(16 * 24)
  }
})
