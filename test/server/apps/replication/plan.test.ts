import { expect, test } from 'vitest'
import { planReplication, type Replication } from '../../../../server/apps/replication/plan.ts'

const follower = { id: 'one', slot: 'cpd_one', receivedSegment: 7 }
const slot = { name: 'cpd_one', isActive: true, isLost: false }
const plan = (situation: Partial<Replication>) => planReplication({ followers: [follower], slots: [slot], oldestSegment: 5, ...situation })

test('one that streams is left alone', () => {
  expect(plan({})).toEqual([])
  expect(plan({ slots: [{ ...slot, isActive: false }] })).toEqual([])
})

test('a new one gets a place in the log, and one that went leaves none', () => {
  expect(plan({ followers: [{ ...follower, receivedSegment: undefined }], slots: [] })).toEqual([{ kind: 'make_slot', slot: 'cpd_one' }])
  expect(plan({ followers: [] })).toEqual([{ kind: 'drop_slot', slot: 'cpd_one' }])
})

test('one whose log the server had to give up takes all anew', () => {
  expect(plan({ slots: [{ ...slot, isActive: false, isLost: true }] })).toEqual([
    { kind: 'drop_slot', slot: 'cpd_one' },
    { kind: 'make_slot', slot: 'cpd_one' },
    { kind: 'copy_anew', id: 'one' },
  ])
})

test('one whose log ends before that of its primary begins takes all anew, unless it streams', () => {
  expect(plan({ oldestSegment: 8, slots: [{ ...slot, isActive: false }] })).toEqual([{ kind: 'copy_anew', id: 'one' }])
  expect(plan({ oldestSegment: 8, slots: [] })).toEqual([
    { kind: 'make_slot', slot: 'cpd_one' },
    { kind: 'copy_anew', id: 'one' },
  ])
  expect(plan({ oldestSegment: 8 })).toEqual([])
})
