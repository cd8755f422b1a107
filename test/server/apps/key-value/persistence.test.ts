import { expect, test } from 'vitest'
import { type PersistenceSituation, planPersistence } from '../../../../server/apps/key-value/server/persistence.ts'
import { persistenceModes } from '../../../../shared/key-value.ts'

const server = { isJournaling: false, isWriting: false, isJournalGood: true, snapshots: 0, lastSnapshotAt: 0 }
const plan = (changes: Partial<Omit<PersistenceSituation, 'server'>>, state: Partial<PersistenceSituation['server']> = {}) =>
  planPersistence({ wanted: 'snapshot', laid: 'snapshot', since: 1000, ...changes, server: { ...server, ...state } })

test('nothing is done where the files are of the mode that is wanted', () => {
  for (const mode of persistenceModes)
    expect(plan({ wanted: mode, laid: mode }, { isJournaling: mode === 'journal_snapshot' })).toBeUndefined()
})

test('a journal is begun, and counts once it is written as a whole', () => {
  const towards = { wanted: 'journal_snapshot', laid: 'snapshot' } as const
  expect(plan(towards)).toEqual({ kind: 'command', command: ['CONFIG', 'SET', 'appendonly', 'yes'] })
  expect(plan(towards, { isJournaling: true, isWriting: true })).toEqual({ kind: 'wait' })
  expect(plan(towards, { isJournaling: true, isJournalGood: false })).toEqual({ kind: 'wait' })
  expect(plan(towards, { isJournaling: true })).toEqual({ kind: 'laid', mode: 'journal_snapshot' })
})

test('a journal ends only when a snapshot that was begun after is written', () => {
  const towards = { wanted: 'snapshot', laid: 'journal_snapshot' } as const
  const journaling = { isJournaling: true }
  expect(plan(towards, journaling)).toEqual({ kind: 'command', command: ['BGSAVE'] })
  expect(plan(towards, { ...journaling, isWriting: true })).toEqual({ kind: 'wait' })
  // The start of a server counts as the time of its last snapshot, though it has written none.
  expect(plan(towards, { ...journaling, lastSnapshotAt: 2000 })).toEqual({ kind: 'command', command: ['BGSAVE'] })
  expect(plan(towards, { ...journaling, snapshots: 1, lastSnapshotAt: 500 })).toEqual({ kind: 'command', command: ['BGSAVE'] })
  expect(plan(towards, { ...journaling, snapshots: 1, lastSnapshotAt: 2000 })).toEqual({ kind: 'laid', mode: 'snapshot' })
  expect(plan({ wanted: 'snapshot', laid: 'snapshot' }, journaling)).toMatchObject({ command: ['CONFIG', 'SET', 'appendonly', 'no'] })
})

test('what is not to be kept is given up at once', () => {
  expect(plan({ wanted: 'off', laid: 'journal_snapshot' }, { isJournaling: true })).toEqual({ kind: 'laid', mode: 'off' })
  expect(plan({ wanted: 'off', laid: 'off' }, { isJournaling: true })).toMatchObject({ command: ['CONFIG', 'SET', 'appendonly', 'no'] })
})
