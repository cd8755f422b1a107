import type { Database } from 'bun:sqlite'

/** Until when an installation's host is left alone (ms since 1970); 0 where it is not. */
export const pausedUntil = (db: Database, installationId: string): number =>
  db.query<{ until: number }, [string]>('SELECT until FROM source_host_pauses WHERE installation_id = ?').get(installationId)?.until ?? 0

/** Leaves it alone until then, if it is still there. */
export function pauseHost(db: Database, installationId: string, until: number): void {
  db.query(
    `INSERT INTO source_host_pauses SELECT id, ? FROM source_host_installations WHERE id = ?
     ON CONFLICT DO UPDATE SET until = excluded.until`,
  ).run(until, installationId)
}
