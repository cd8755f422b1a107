-- Everything that an engine runs for somebody: instances of services and jobs today. What an owner knows beside that stands in a table of its own.
CREATE TABLE workloads (
  id TEXT PRIMARY KEY,
  -- Whose it is: service, and the service's id.
  owner_kind TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  -- What it is to the owner: instance · job.
  purpose TEXT NOT NULL,
  node TEXT NOT NULL DEFAULT 'local',
  -- The engine's records in which it was started last; null when that is not known.
  epoch TEXT,
  -- JSON of what the owner starts it from.
  spec TEXT NOT NULL DEFAULT '{}',
  -- pending · starting · running · stopping · ended, see runtime/workloads/plan.ts
  phase TEXT NOT NULL DEFAULT 'pending',
  restarts INTEGER NOT NULL DEFAULT 0,
  -- JSON array of its latest exits, for back-off, crash loops and reasons.
  exits TEXT NOT NULL DEFAULT '[]',
  -- When a pending one is to be started.
  start_at INTEGER NOT NULL,
  -- Where it is reached; both null for one that listens nowhere.
  address TEXT,
  port INTEGER,
  started_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (node, address, port)
) STRICT;
CREATE INDEX workloads_by_owner ON workloads (owner_id, owner_kind, purpose);

INSERT INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, restarts, exits, start_at, address, port, started_at, created_at)
  SELECT id, 'service', service_id, 'instance', json_object('deployId', deploy_id, 'releaseId', release_id),
    CASE phase WHEN 'ready' THEN 'running' WHEN 'serving' THEN 'running' WHEN 'draining' THEN 'stopping' ELSE phase END,
    restarts, exits, start_at, address, port, started_at, created_at
  FROM instances;
INSERT INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, start_at, started_at, created_at)
  SELECT id, 'service', service_id, 'job', json_object('deployId', deploy_id, 'releaseId', release_id), CASE WHEN stop_as IS NULL THEN phase ELSE 'stopping' END,
    coalesce(started_at, created_at), started_at, created_at
  FROM jobs WHERE finished_at IS NULL AND phase IN ('starting', 'running') AND release_id IS NOT NULL;

-- What services know of their instances beside what all workloads have.
CREATE TABLE service_instances (
  id TEXT PRIMARY KEY REFERENCES workloads (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  release_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  -- The port that the variables of a private service name.
  own_port INTEGER,
  -- Why the port that it listens on cannot be used.
  misplaced TEXT,
  -- Whether the routes lead to it while it runs.
  is_serving INTEGER NOT NULL DEFAULT 0,
  draining_at INTEGER,
  -- Set before an instance is frozen and unset after it was thawed: while it is, nobody knows but that it may be frozen.
  frozen_at INTEGER
) STRICT;
CREATE INDEX service_instances_by_deploy ON service_instances (deploy_id);
INSERT INTO service_instances (id, deploy_id, release_id, generation, own_port, misplaced, is_serving, draining_at, frozen_at)
  SELECT id, deploy_id, release_id, generation, own_port, misplaced, phase = 'serving', draining_at, frozen_at FROM instances;

DROP TABLE instances;
-- Instances as their services see them: pending · starting · ready · serving · draining, see apps/instances/plan.ts.
CREATE VIEW instances AS
  SELECT w.id, w.owner_id AS service_id, i.deploy_id, i.release_id, i.generation, w.address, w.port, i.own_port, i.misplaced,
    CASE w.phase WHEN 'running' THEN iif(i.is_serving, 'serving', 'ready') WHEN 'stopping' THEN 'draining' WHEN 'ended' THEN 'draining' ELSE w.phase END AS phase,
    w.restarts, w.exits, w.start_at, i.draining_at, i.frozen_at, w.started_at, w.created_at
  FROM service_instances i JOIN workloads w ON w.id = i.id;

-- What an engine ran at a start though nobody here knew of it, as after a restored database.
CREATE TABLE strays (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL,
  found_at INTEGER NOT NULL
) STRICT;
