-- Commits that were pushed and wait for their checks, one for each service: a later push takes the place of the one before.
CREATE TABLE check_waits (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  -- What the service was deployed from when it was pushed.
  repository TEXT NOT NULL,
  branch TEXT NOT NULL,
  -- Branch that was pushed to, by name.
  pushed_branch TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  message TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  looked_at INTEGER NOT NULL DEFAULT 0,
  next_look_at INTEGER NOT NULL,
  -- Since when all of its checks have passed; null while they have not.
  passed_at INTEGER
) STRICT;
CREATE INDEX check_waits_by_commit ON check_waits (commit_id);
