-- Repositories that take pushes: one for each service that somebody has pushed to or fetched from.
CREATE TABLE git_repositories (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  -- The branch that deploys where the service names none: the first of main and master that was pushed.
  branch TEXT,
  created_at INTEGER NOT NULL
) STRICT;

-- Pushes whose objects are there and whose refs do not point to them yet.
CREATE TABLE git_pushes (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  -- The deploy whose end is waited for. No foreign key: one that is gone has failed.
  deploy_id TEXT,
  -- The ref that follows the deploy; the others do not wait.
  waiting_ref TEXT,
  updates TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX git_pushes_by_service ON git_pushes (service_id);
