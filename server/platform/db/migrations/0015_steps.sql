-- How commands of deploys under way have ended. None of them is run a second time.
CREATE TABLE deploy_steps (
  -- The id of its workload.
  id TEXT PRIMARY KEY,
  deploy_id TEXT NOT NULL REFERENCES deploys (id) ON DELETE CASCADE,
  -- Both null when nobody saw how it ended, and when it was refused.
  exit_code INTEGER,
  signal TEXT,
  -- out_of_memory · unseen · monitor_killed, or null where code and signal say all.
  why TEXT,
  timed_out INTEGER NOT NULL DEFAULT 0,
  -- Why it could not be started, for people; null when it was.
  refusal TEXT
) STRICT;
CREATE INDEX deploy_steps_by_deploy ON deploy_steps (deploy_id);

-- Shells and jobs on a terminal have a row while they are open: those that the last control plane left open, too.
INSERT OR IGNORE INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, start_at, started_at, created_at)
  WITH latest AS (SELECT * FROM events ORDER BY id DESC LIMIT 20000)
  SELECT details ->> 'shellId', 'service', service_id, 'shell', details, 'running', created_at, created_at, created_at
  FROM latest WHERE type = 'shell_opened'
    AND details ->> 'shellId' NOT IN (SELECT details ->> 'shellId' FROM latest WHERE type = 'shell_closed');
INSERT OR IGNORE INTO workloads (id, owner_kind, owner_id, purpose, spec, phase, start_at, started_at, created_at)
  SELECT id, 'service', service_id, 'job', json_object('deployId', deploy_id, 'releaseId', release_id), iif(stop_as IS NULL, 'running', 'stopping'),
    coalesce(started_at, created_at), started_at, created_at
  FROM jobs WHERE finished_at IS NULL AND phase = 'running' AND release_id IS NOT NULL;
