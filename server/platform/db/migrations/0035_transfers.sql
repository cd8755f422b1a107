-- Exports of databases, whose files outlive them for some days, and imports into them. A row goes when nothing of it is left on the machine.
CREATE TABLE transfers (
  id TEXT PRIMARY KEY,
  -- export · import
  kind TEXT NOT NULL,
  datastore_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  environment_id TEXT,
  -- Of the user that its tools run as.
  number INTEGER NOT NULL,
  -- waiting · running · succeeded · failed · canceled · removing
  status TEXT NOT NULL,
  -- Whether an import drops what is in the way.
  is_clean INTEGER NOT NULL DEFAULT 0,
  -- Connection string of the database that is imported, and its host. Null for a file.
  source_sealed TEXT,
  source_host TEXT,
  -- What an import left out: JSON of sentences.
  skipped TEXT NOT NULL DEFAULT '[]',
  size_bytes INTEGER,
  sha256 TEXT,
  reason TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER
) STRICT;
CREATE INDEX transfers_by_datastore ON transfers (datastore_id, id);
CREATE INDEX transfers_by_workspace ON transfers (workspace_id);
