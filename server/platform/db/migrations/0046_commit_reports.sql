-- What source hosts have been told of deploys of commits. What they are to be told is the status of the deploy.
CREATE TABLE commit_reports (
  -- Id of the deploy, which is known at the host by it for longer than here.
  id TEXT PRIMARY KEY,
  -- Null once the deploy is gone, of which the host is still to hear.
  deploy_id TEXT UNIQUE REFERENCES deploys (id) ON DELETE SET NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- URL of the repository that the commit is of, whatever the service is deployed from later.
  repository TEXT NOT NULL,
  environment TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  -- Whose rights were used last.
  installation_id TEXT REFERENCES source_host_installations (id) ON DELETE SET NULL,
  -- queued · in_progress · success · failure · canceled · inactive; null while nothing has been told
  told TEXT,
  wanted TEXT NOT NULL,
  -- What the host calls it, where it gives it a name.
  report_id TEXT,
  problem TEXT,
  -- Failed ones, of telling what is wanted.
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL
) STRICT;
CREATE INDEX commit_reports_by_workspace ON commit_reports (workspace_id, deploy_id);
CREATE INDEX commit_reports_by_installation ON commit_reports (installation_id) WHERE installation_id IS NOT NULL;
CREATE INDEX deploys_of_commits ON deploys (updated_at) WHERE commit_id IS NOT NULL;

-- Until when nobody asks a host by the rights of an installation, as it is down or limits the rate.
CREATE TABLE source_host_pauses (
  installation_id TEXT PRIMARY KEY REFERENCES source_host_installations (id) ON DELETE CASCADE,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
