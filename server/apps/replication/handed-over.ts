import type { PostgresConnection } from '../../platform/postgres/connect.ts'
import { pause } from '../../platform/work/clock.ts'
import { parseLsn } from '../backups/rules/wal-names.ts'
import type { AppContext } from '../context.ts'
import type { ServerEndpoint } from '../datastores/kind.ts'
import type { StoredDatastore } from '../datastores/store.ts'
import { asAdmin } from '../postgres/session.ts'

export interface Replayed {
  checkpointLsn: string
  redoLsn: string
  replayedLsn: string
}

/** The record of a checkpoint with the head of a page in its middle. */
const MOST_BYTES = 160n

/**
 * Whether the last that a follower has replayed is the checkpoint with which a server ends in order (XLOG_CHECKPOINT_SHUTDOWN): that alone begins
 * where its replay begins, and nothing comes after it.
 */
export function isAtEndOfLog({ checkpointLsn, redoLsn, replayedLsn }: Replayed): boolean {
  const behind = parseLsn(replayedLsn) - parseLsn(checkpointLsn)
  return checkpointLsn === redoLsn && behind > 0n && behind <= MOST_BYTES
}

const LOOKS = 50
const LOOK_MS = 100

/** Whether a follower has all of the log of a primary that has ended, in its own words. @throws whatever refuses. */
export const hasAllOfPrimary = (context: AppContext, { id }: Pick<StoredDatastore, 'id'>, endpoint: ServerEndpoint): Promise<boolean> =>
  asAdmin(context, { id, endpoint }, async (sql) => {
    for (let look = 0; look < LOOKS; look += 1) {
      const [row] = await sql.run('SELECT coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), true)::text AS is_replayed')
      if (row?.is_replayed === 'true') return await isAtEnd(sql)
      await pause(context, LOOK_MS, context.stopping)
    }
    return false
  })

/** A checkpoint of a follower takes note of the last one of its primary that it has replayed. */
async function isAtEnd(sql: PostgresConnection): Promise<boolean> {
  await sql.run("SET statement_timeout = '60s'")
  await sql.run('CHECKPOINT')
  const [row] = await sql.run(`SELECT checkpoint_lsn::text AS checkpoint, redo_lsn::text AS redo, pg_last_wal_replay_lsn()::text AS replayed
    FROM pg_control_checkpoint()`)
  return isAtEndOfLog({ checkpointLsn: String(row?.checkpoint), redoLsn: String(row?.redo), replayedLsn: String(row?.replayed) })
}
