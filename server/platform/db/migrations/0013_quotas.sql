-- What the operator has set for one workspace in place of the limits of all; see shared/quota.ts for the names.
CREATE TABLE workspace_quotas (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, name)
) STRICT, WITHOUT ROWID;

-- The refresh token that was exchanged last, and the answer that was given for it, sealed: see devices/session-store.ts.
ALTER TABLE sessions ADD COLUMN spent_refresh_hash TEXT;
ALTER TABLE sessions ADD COLUMN spent_at INTEGER;
ALTER TABLE sessions ADD COLUMN spent_answer_sealed TEXT;

-- Browsers and devices that somebody has logged in with before, by the hash of what they show.
CREATE TABLE known_devices (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX known_devices_by_user ON known_devices (user_id, last_seen_at);
