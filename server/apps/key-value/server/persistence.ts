/**
 * How a running server comes from one kind of persistence to another, without a moment in which a kill loses more than the lesser of the
 * two promises: what is on the volume is said to be of the other kind only once it is.
 */
import type { PersistenceMode } from '../../../../shared/key-value.ts'
import type { ServerInfo } from './info.ts'

export type PersistenceStep =
  /** Something is being written: look again in a moment. */
  { kind: 'wait' } | { kind: 'command'; command: string[] } | { kind: 'laid'; mode: PersistenceMode }

type Known = Pick<ServerInfo, 'isJournaling' | 'isWriting' | 'isJournalGood' | 'snapshots' | 'lastSnapshotAt'>

export interface PersistenceSituation {
  wanted: PersistenceMode
  laid: PersistenceMode
  /** When that was asked for (ms since 1970): a snapshot of before would not do. */
  since: number
  server: Known
}

export function planPersistence(situation: PersistenceSituation): PersistenceStep | undefined {
  const { wanted, laid, server } = situation
  if (wanted === 'journal_snapshot') return laid === wanted ? undefined : towardsJournal(server)
  if (laid !== wanted) return wanted === 'off' ? { kind: 'laid', mode: 'off' } : towardsSnapshot(situation)
  return server.isJournaling ? setJournal('no') : undefined
}

function towardsJournal({ isJournaling, isWriting, isJournalGood }: Known): PersistenceStep {
  if (!isJournaling) return setJournal('yes')
  if (isWriting || !isJournalGood) return { kind: 'wait' }
  return { kind: 'laid', mode: 'journal_snapshot' }
}

/** A server that has just begun tells its start as the time of its last snapshot. */
function towardsSnapshot({ since, server: { isWriting, snapshots, lastSnapshotAt } }: PersistenceSituation): PersistenceStep {
  if (isWriting) return { kind: 'wait' }
  const isWritten = snapshots > 0 && lastSnapshotAt > since
  return isWritten ? { kind: 'laid', mode: 'snapshot' } : { kind: 'command', command: ['BGSAVE'] }
}

const setJournal = (value: 'yes' | 'no'): PersistenceStep => ({ kind: 'command', command: ['CONFIG', 'SET', 'appendonly', value] })
