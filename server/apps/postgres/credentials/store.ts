import type { Database } from 'bun:sqlite'

/** Takes users away whose time is over, without the one that is named. Times are milliseconds since 1970. */
export function removeExpiredUsers(db: Database, { datastoreId, now, except }: { datastoreId: string; now: number; except: string }): void {
  db.query('DELETE FROM datastore_credentials WHERE datastore_id = $datastoreId AND valid_until <= $now AND user_name <> $except').run({
    datastoreId,
    now,
    except,
  })
}

/** Has all users of a database but one end at a time (ms since 1970), those that end sooner left out. */
export function limitUsers(db: Database, datastoreId: string, { until, except }: { until: number; except: string }): void {
  db.query(
    `UPDATE datastore_credentials SET valid_until = $until
     WHERE datastore_id = $datastoreId AND user_name <> $except AND (valid_until IS NULL OR valid_until > $until)`,
  ).run({ datastoreId, until, except })
}

/** Takes one user away. Returns whether there was one. */
export const removeUser = (db: Database, datastoreId: string, userName: string): boolean =>
  db.query('DELETE FROM datastore_credentials WHERE datastore_id = $datastoreId AND user_name = $userName').run({ datastoreId, userName })
    .changes > 0
