-- Backups of datastores. None of these rows goes with its datastore: what was deleted can be recovered for a while.
CREATE TABLE backup_keys (
  -- As whom age encrypts: age1…
  recipient TEXT PRIMARY KEY,
  identity_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- One for each datastore that has backups.
CREATE TABLE backup_sets (
  datastore_id TEXT PRIMARY KEY,
  -- postgres · key_value
  kind TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  environment_id TEXT,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  recipient TEXT NOT NULL REFERENCES backup_keys (recipient),
  -- What another is made of from these backups: JSON of names, sizes and passwords.
  recipe_sealed TEXT NOT NULL,
  -- Why its log is not streamed, in words for people. Null while it is.
  problem TEXT,
  created_at INTEGER NOT NULL,
  -- Set when the datastore is gone: until then its backups are kept.
  kept_until INTEGER,
  is_removing INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX backup_sets_by_workspace ON backup_sets (workspace_id);

CREATE TABLE backups (
  id TEXT PRIMARY KEY,
  datastore_id TEXT NOT NULL REFERENCES backup_sets (datastore_id) ON DELETE CASCADE,
  -- full · incremental
  kind TEXT NOT NULL,
  -- The backup that an incremental one is the difference to.
  parent_id TEXT,
  -- scheduled · manual · final
  origin TEXT NOT NULL,
  -- creating · available · failed · damaged · deleting
  status TEXT NOT NULL,
  timeline INTEGER,
  start_lsn TEXT,
  end_lsn TEXT,
  created_at INTEGER NOT NULL,
  -- From this moment on it can be recovered to.
  completed_at INTEGER,
  plain_bytes INTEGER,
  verified_at INTEGER,
  drilled_at INTEGER,
  drill_ms INTEGER,
  reason TEXT
) STRICT;
CREATE INDEX backups_by_datastore ON backups (datastore_id, id);

-- Packed files, here and at the bucket. The row is written when the file is whole, and goes after it.
CREATE TABLE backup_objects (
  datastore_id TEXT NOT NULL REFERENCES backup_sets (datastore_id) ON DELETE CASCADE,
  -- wal/<segment>, bak-…/base.tar
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  plain_bytes INTEGER NOT NULL,
  packed_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- Null while it is not at the bucket.
  uploaded_at INTEGER,
  is_local INTEGER NOT NULL DEFAULT 1,
  is_removing INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (datastore_id, name, digest)
) STRICT;
CREATE INDEX backup_objects_to_upload ON backup_objects (created_at) WHERE uploaded_at IS NULL;
