import type { AppContext } from '../../context.ts'
import { SLOT } from '../postgres/receiver.ts'
import { currentBackups } from '../rows/backup-store.ts'
import { type BackupSet, updateBackupSet } from '../rows/set-store.ts'
import { timelineOf } from '../rules/wal-names.ts'
import { recordBackupEvent } from './events.ts'
import type { RunningSource } from './source.ts'
import { requestBackup } from './take-next.ts'

const LOST = 'lost'
const LOST_WORDS =
  'The database wrote more than its server may keep for its copy while that was away, or lost its place in its log: moments since the last backup may be missing. A full backup is taken.'

interface Streaming {
  source: RunningSource
  set: BackupSet
  /** Called with the server's time line before the slot is made anew, where no stream will continue what was received. */
  onLost(timeline: number): Promise<void>
}

/** Has the server keep its log for us from here on. Where it has given up what it kept, the log has a gap: that is told, and a full backup asked for. */
export async function ensureSlot(context: AppContext, { source, set, onLost }: Streaming): Promise<void> {
  const connection = await context.connectPostgres({ ...source, ...source.endpoint, database: 'postgres' })
  try {
    const [slot] = await connection.run('SELECT wal_status FROM pg_replication_slots WHERE slot_name = $1', [SLOT])
    if (slot !== undefined && slot.wal_status !== LOST) return
    const isLost = slot !== undefined || currentBackups(context.db, set).some(({ status }) => status === 'available')
    if (isLost) {
      noteLoss(context, set)
      const [log] = await connection.run('SELECT pg_walfile_name(pg_current_wal_lsn()) AS name')
      await onLost(timelineOf(String(log?.name)))
    }
    if (slot !== undefined) await connection.run(`SELECT pg_drop_replication_slot('${SLOT}')`)
    await connection.run(`SELECT pg_create_physical_replication_slot('${SLOT}', true)`)
  } finally {
    await connection.close()
  }
}

function noteLoss(context: AppContext, set: BackupSet): void {
  const { db } = context
  if (currentBackups(db, set).some(({ status, kind }) => status === 'creating' && kind === 'full')) return
  db.transaction(() => {
    requestBackup(context, set.datastoreId, { due: { kind: 'full' }, origin: 'scheduled' })
    updateBackupSet(db, set.datastoreId, { problem: LOST_WORDS })
    recordBackupEvent(context, set, 'logFailed', { reason: LOST_WORDS })
  })()
}

const RECEIVED_LOOKS = 50
const RECEIVED_LOOK_MS = 100

/** Returns when the receiver has all that the server has written, which it says every two seconds, or does not get it. */
export async function untilReceived(context: AppContext, source: RunningSource): Promise<void> {
  const connection = await context.connectPostgres({ ...source, ...source.endpoint, database: 'postgres' })
  try {
    for (let look = 0; look < RECEIVED_LOOKS; look += 1) {
      const [found] = await connection.run(
        "SELECT bool_and(write_lsn >= pg_current_wal_flush_lsn()) AS is_received FROM pg_stat_replication WHERE application_name = 'pg_receivewal'",
      )
      if (found?.is_received !== false) return
      await new Promise<void>((resolve) => void context.after(RECEIVED_LOOK_MS, resolve))
    }
  } finally {
    await connection.close()
  }
}
