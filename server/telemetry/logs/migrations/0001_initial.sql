-- Lines of one service and one type.
CREATE TABLE streams (
  id INTEGER PRIMARY KEY,
  resource TEXT NOT NULL,
  type TEXT NOT NULL,
  -- The last line that retention has removed.
  pruned_seq INTEGER NOT NULL DEFAULT 0,
  UNIQUE (resource, type)
) STRICT;

-- A run of lines of a stream. Times are microseconds since 1970. rank: 0 as appended, 1 joined once, 2 final.
-- The columns a search decides by stand before the large ones, which SQLite then need not read.
CREATE TABLE chunks (
  last_seq INTEGER PRIMARY KEY,
  stream INTEGER NOT NULL REFERENCES streams (id),
  first_seq INTEGER NOT NULL,
  min_at INTEGER NOT NULL,
  max_at INTEGER NOT NULL,
  levels INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  grams BLOB,
  header BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

CREATE INDEX chunks_backward ON chunks (stream, max_at, min_at, levels, first_seq, bytes);
CREATE INDEX chunks_forward ON chunks (stream, min_at, max_at, levels, first_seq);
CREATE INDEX chunks_arrival ON chunks (stream, last_seq, first_seq, levels);
CREATE INDEX chunks_open ON chunks (stream, rank, bytes) WHERE rank < 2;

-- Which instances wrote to a stream, and when.
CREATE TABLE origins (
  stream INTEGER NOT NULL REFERENCES streams (id),
  instance TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (stream, instance)
) STRICT, WITHOUT ROWID;

CREATE INDEX origins_age ON origins (last_at);

-- How far each output file has been taken in; written in the transaction that stores its lines.
CREATE TABLE positions (
  path TEXT PRIMARY KEY,
  file TEXT NOT NULL,
  offset INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sequence (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  next_seq INTEGER NOT NULL,
  last_at INTEGER NOT NULL
) STRICT;

INSERT INTO sequence (id, next_seq, last_at) VALUES (1, 1, 0);
