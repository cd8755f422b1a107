-- Where instances have a network of their own they all listen on the same port, each at its own address; null while it has none.
CREATE TABLE instances_with_addresses (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id),
  deploy_id TEXT NOT NULL,
  release_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  address TEXT,
  port INTEGER NOT NULL,
  -- pending · starting · ready · serving · draining, see instances/plan.ts
  phase TEXT NOT NULL,
  restarts INTEGER NOT NULL DEFAULT 0,
  -- JSON array of its latest exits, for back-off, crash loops and reasons.
  exits TEXT NOT NULL DEFAULT '[]',
  -- When a pending instance is to be started.
  start_at INTEGER NOT NULL,
  draining_at INTEGER,
  started_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (address, port)
) STRICT;
INSERT INTO instances_with_addresses
  (id, service_id, deploy_id, release_id, generation, address, port, phase, restarts, exits, start_at, draining_at, started_at, created_at)
  SELECT id, service_id, deploy_id, release_id, generation, '127.0.0.1', port, phase, restarts, exits, start_at, draining_at, started_at, created_at
  FROM instances;
DROP TABLE instances;
ALTER TABLE instances_with_addresses RENAME TO instances;
CREATE INDEX instances_by_service ON instances (service_id);
