-- announced, while its server runs and is got ready, and under_way, while it must not run. Null while no upgrade is.
ALTER TABLE datastores ADD COLUMN upgrade TEXT;
-- The last upgrade of each database to another major version.
CREATE TABLE postgres_upgrades (
  id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  from_version TEXT NOT NULL,
  to_version TEXT NOT NULL,
  -- preparing · checking · keeping · linking · starting · settling · done, or failed; returning · returned
  step TEXT NOT NULL,
  -- Where the way back is kept, and under which key; the volume may be another's since.
  volume_id TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  -- How often linking was begun.
  attempts INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER NOT NULL,
  -- From when on nothing was written to what is kept.
  stopped_at INTEGER,
  finished_at INTEGER,
  -- Until when there is a way back; null where there is none.
  kept_until INTEGER,
  reason TEXT
) STRICT;
