-- One-off jobs and runs of cron jobs, from the request to the end; the newest that have ended are kept.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  -- one_off · cron
  kind TEXT NOT NULL,
  -- Null: the start command of the release.
  start_command TEXT,
  -- Null: the plan of the release.
  plan TEXT,
  -- pending · starting · running · succeeded · failed · canceled, see jobs/plan.ts
  phase TEXT NOT NULL DEFAULT 'pending',
  -- What it runs in: that of the moment in which it starts.
  deploy_id TEXT,
  release_id TEXT,
  -- The time of the schedule that a run is for; null for what was asked for.
  due_at INTEGER,
  triggered_by TEXT NOT NULL,
  -- While it is being stopped: what it is to end as (canceled · failed), for whom, and why.
  stop_as TEXT,
  canceled_by TEXT,
  reason TEXT,
  exit_code INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  -- No time of a schedule is run twice, whatever dies or sets the clock back meanwhile.
  UNIQUE (service_id, due_at)
) STRICT;
CREATE INDEX jobs_by_service ON jobs (service_id, kind, id);
CREATE INDEX jobs_open ON jobs (service_id) WHERE finished_at IS NULL;

-- Where the schedule of each cron job stands. A row that was made for another schedule or time zone counts as none.
CREATE TABLE cron_jobs (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  schedule TEXT NOT NULL,
  timezone TEXT NOT NULL,
  -- Null while it is suspended or has no release.
  next_due_at INTEGER,
  last_succeeded_at INTEGER
) STRICT;
