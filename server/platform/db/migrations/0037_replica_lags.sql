-- How far replicas are behind their primaries, as it was measured; of the last two days.
CREATE TABLE replica_lags (
  datastore_id TEXT NOT NULL REFERENCES datastores (id) ON DELETE CASCADE,
  -- Seconds since 1970.
  at INTEGER NOT NULL,
  lag_ms INTEGER NOT NULL,
  PRIMARY KEY (datastore_id, at)
) STRICT, WITHOUT ROWID;
