-- What is sampled of: an instance, or a service as a whole. Ids are never given again.
CREATE TABLE series (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  service TEXT NOT NULL,
  -- Empty for the service as a whole.
  instance TEXT NOT NULL,
  -- Seconds since 1970, as all times here unless said otherwise.
  created_at INTEGER NOT NULL,
  UNIQUE (service, instance)
) STRICT;

-- The finest level, of ten seconds: by time first, so that a sweep writes at one place.
CREATE TABLE usage_fine (
  at INTEGER NOT NULL,
  series INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL,
  cpu_peak INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  memory_peak INTEGER NOT NULL,
  PRIMARY KEY (at, series)
) STRICT, WITHOUT ROWID;

CREATE TABLE traffic_fine (
  at INTEGER NOT NULL,
  series INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  instances INTEGER NOT NULL,
  instances_peak INTEGER NOT NULL,
  cpu_limit INTEGER NOT NULL,
  memory_limit INTEGER NOT NULL,
  status_none INTEGER NOT NULL,
  status_1xx INTEGER NOT NULL,
  status_2xx INTEGER NOT NULL,
  status_3xx INTEGER NOT NULL,
  status_4xx INTEGER NOT NULL,
  status_5xx INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  -- Sparse counts by bucket; see counts-codec.ts.
  latency BLOB,
  PRIMARY KEY (at, series)
) STRICT, WITHOUT ROWID;

-- The coarser levels, by length of their windows in seconds: by series first, as they are read.
CREATE TABLE usage (
  step INTEGER NOT NULL,
  series INTEGER NOT NULL,
  at INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL,
  cpu_peak INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  memory_peak INTEGER NOT NULL,
  PRIMARY KEY (step, series, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE traffic (
  step INTEGER NOT NULL,
  series INTEGER NOT NULL,
  at INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  instances INTEGER NOT NULL,
  instances_peak INTEGER NOT NULL,
  cpu_limit INTEGER NOT NULL,
  memory_limit INTEGER NOT NULL,
  status_none INTEGER NOT NULL,
  status_1xx INTEGER NOT NULL,
  status_2xx INTEGER NOT NULL,
  status_3xx INTEGER NOT NULL,
  status_4xx INTEGER NOT NULL,
  status_5xx INTEGER NOT NULL,
  bytes_in INTEGER NOT NULL,
  bytes_out INTEGER NOT NULL,
  latency BLOB,
  PRIMARY KEY (step, series, at)
) STRICT, WITHOUT ROWID;

-- Up to which time (exclusive) the windows of a level are made; the finer level holds what comes after.
CREATE TABLE rolled (
  step INTEGER PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT;

-- The processor time of instances as last read, for the first rate after a restart. Milliseconds since 1970.
CREATE TABLE readings (
  instance TEXT PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  cpu_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What of the ingress's running totals is in the samples already.
CREATE TABLE tallies (
  epoch TEXT NOT NULL,
  -- An instance, or a service for what no instance was asked for.
  entry TEXT NOT NULL,
  -- Milliseconds since 1970, as the ingress gives it.
  began_at INTEGER NOT NULL,
  counts BLOB NOT NULL,
  PRIMARY KEY (epoch, entry, began_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE state (
  key TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
