-- A database that is being made out of backups of another.
CREATE TABLE recoveries (
  datastore_id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  source_id TEXT NOT NULL,
  backup_id TEXT NOT NULL,
  -- A moment in milliseconds since 1970, or latest, or immediate for what the backup holds.
  target TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- What a backup is being tried out on: {volumeId, number, backupId} as JSON. Null while none is.
ALTER TABLE backup_sets ADD COLUMN drill TEXT;
-- Names and sizes: no secret stands in it.
ALTER TABLE backup_sets RENAME COLUMN recipe_sealed TO recipe;
