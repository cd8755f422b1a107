CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE environments (
  id TEXT PRIMARY KEY,
  -- That of its project, kept here as well: what a workspace has is looked for without a join.
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- unprotected · protected
  protected_status TEXT NOT NULL,
  -- Whether private names and addresses of its services are reached from inside it only.
  is_isolated INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;
CREATE INDEX environments_by_workspace ON environments (workspace_id);

-- Null for a service that is in no environment. An environment that has services cannot go.
ALTER TABLE services ADD COLUMN environment_id TEXT REFERENCES environments (id);
CREATE INDEX services_by_environment ON services (environment_id) WHERE environment_id IS NOT NULL;
