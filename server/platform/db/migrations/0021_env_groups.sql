CREATE TABLE env_groups (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- One of them or none: whose services it can be linked to. Neither can go while it has groups.
  environment_id TEXT REFERENCES environments (id),
  project_id TEXT REFERENCES projects (id),
  name TEXT NOT NULL,
  -- Sealed JSON of all its variables: a service with ten groups opens ten texts, not a thousand.
  vars_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name)
) STRICT;
CREATE INDEX env_groups_by_environment ON env_groups (environment_id) WHERE environment_id IS NOT NULL;
CREATE INDEX env_groups_by_project ON env_groups (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE env_group_files (
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  content_sealed TEXT NOT NULL,
  PRIMARY KEY (group_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE env_group_links (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  -- Order of linking for the service: values of a later group win.
  position INTEGER NOT NULL,
  PRIMARY KEY (service_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX env_group_links_by_group ON env_group_links (group_id);

-- Whether references in the value are replaced.
ALTER TABLE env_vars ADD COLUMN is_interpolated INTEGER NOT NULL DEFAULT 0;
