-- What is desired of engines: so many replicas of one program, each of them a workload.
CREATE TABLE sets (
  id TEXT PRIMARY KEY,
  -- Whose it is and what it is to that owner, as in workloads.
  owner_kind TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  node TEXT NOT NULL DEFAULT 'local',
  -- JSON of what the owner starts its replicas from; never changed.
  spec TEXT NOT NULL DEFAULT '{}',
  replicas INTEGER NOT NULL,
  -- Replicas are frozen, and no other begins.
  is_frozen INTEGER NOT NULL DEFAULT 0,
  -- The set is forgotten when nothing of it is left.
  is_dropped INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sets_by_owner ON sets (owner_id, owner_kind, purpose);

-- Null for what no set keeps.
ALTER TABLE workloads ADD COLUMN set_id TEXT REFERENCES sets (id);
-- Set before a replica is frozen and unset after it was thawed: while it is, nobody knows but that it may be frozen.
ALTER TABLE workloads ADD COLUMN frozen_at INTEGER;
CREATE INDEX workloads_by_set ON workloads (set_id);
UPDATE workloads SET frozen_at = (SELECT i.frozen_at FROM service_instances i WHERE i.id = workloads.id);

INSERT INTO sets (id, owner_kind, owner_id, purpose, spec, replicas, is_frozen, is_dropped, created_at)
  SELECT i.deploy_id || '.' || i.generation, w.owner_kind, w.owner_id, w.purpose,
    json_object('deployId', i.deploy_id, 'releaseId', max(i.release_id), 'generation', i.generation),
    count(*) FILTER (WHERE w.phase NOT IN ('stopping', 'ended')),
    max(coalesce(s.asleep_how, '') = 'freeze' AND i.frozen_at IS NOT NULL AND w.phase NOT IN ('stopping', 'ended')),
    min(w.phase IN ('stopping', 'ended')),
    min(w.created_at)
  FROM service_instances i JOIN workloads w ON w.id = i.id LEFT JOIN services s ON s.id = w.owner_id
  GROUP BY w.owner_kind, w.owner_id, w.purpose, i.deploy_id, i.generation;
UPDATE workloads SET
  set_id = (SELECT i.deploy_id || '.' || i.generation FROM service_instances i WHERE i.id = workloads.id),
  spec = (SELECT json_object('deployId', i.deploy_id, 'releaseId', i.release_id, 'generation', i.generation) FROM service_instances i WHERE i.id = workloads.id)
  WHERE id IN (SELECT id FROM service_instances);

-- What runs once is a set of one. Shells go with their terminals, and nobody keeps them.
INSERT INTO sets (id, owner_kind, owner_id, purpose, spec, replicas, is_dropped, created_at)
  SELECT id, owner_kind, owner_id, purpose, spec, 1, phase IN ('stopping', 'ended'), created_at
  FROM workloads WHERE purpose NOT IN ('instance', 'shell');
UPDATE workloads SET set_id = id WHERE purpose NOT IN ('instance', 'shell');

DROP VIEW instances;
ALTER TABLE service_instances DROP COLUMN frozen_at;
-- The port of a release's healthy instances is asked for with each replica that is added.
CREATE INDEX service_instances_by_release ON service_instances (release_id);
-- Instances as their services see them: pending · starting · ready · serving · draining, see apps/instances/plan.ts.
CREATE VIEW instances AS
  SELECT w.id, w.owner_id AS service_id, i.deploy_id, i.release_id, i.generation, w.address, w.port, i.own_port, i.misplaced,
    CASE w.phase WHEN 'running' THEN iif(i.is_serving, 'serving', 'ready') WHEN 'stopping' THEN 'draining' WHEN 'ended' THEN 'draining' ELSE w.phase END AS phase,
    w.restarts, w.exits, w.start_at, i.draining_at, w.frozen_at, w.started_at, w.created_at
  FROM service_instances i JOIN workloads w ON w.id = i.id;
