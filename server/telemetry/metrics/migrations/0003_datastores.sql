-- What servers of datastores tell of themselves. Counts are those of span_ms milliseconds; connections, memory and keys are averages.
CREATE TABLE datastores_fine (
  at INTEGER NOT NULL,
  series INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  connections REAL NOT NULL,
  memory REAL NOT NULL,
  keys REAL NOT NULL,
  span_ms INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  evictions INTEGER NOT NULL,
  operations INTEGER NOT NULL,
  PRIMARY KEY (at, series)
) STRICT, WITHOUT ROWID;

CREATE TABLE datastores (
  step INTEGER NOT NULL,
  series INTEGER NOT NULL,
  at INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  connections REAL NOT NULL,
  memory REAL NOT NULL,
  keys REAL NOT NULL,
  span_ms INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  misses INTEGER NOT NULL,
  evictions INTEGER NOT NULL,
  operations INTEGER NOT NULL,
  PRIMARY KEY (step, series, at)
) STRICT, WITHOUT ROWID;
