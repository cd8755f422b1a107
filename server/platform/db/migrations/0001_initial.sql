CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, user_id)
) STRICT;
CREATE INDEX members_by_user ON members (user_id);

-- Tokens are stored as SHA-256 of their text: they carry 256 random bits, so a slow hash would add nothing.
CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id);

CREATE TABLE idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  -- Null while the first request is still being answered.
  status INTEGER,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE services (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  -- The service's own user on the machine.
  uid INTEGER NOT NULL UNIQUE,
  num_instances INTEGER NOT NULL,
  -- JSON of ServiceSettings: what a release is made with. See services/settings.ts.
  settings TEXT NOT NULL,
  -- What the newest build found, where the settings name no runtime.
  detected_runtime TEXT,
  -- Raised by a restart: instances of another generation are replaced.
  generation INTEGER NOT NULL DEFAULT 0,
  -- What serves: set in one step when a deploy or restart takes over.
  live_deploy_id TEXT,
  live_generation INTEGER NOT NULL DEFAULT 0,
  suspended_at INTEGER,
  -- Set when deletion begins; the row goes when nothing of the service is left.
  deleted_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX services_by_name ON services (workspace_id, name) WHERE deleted_at IS NULL;

CREATE TABLE env_vars (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value_sealed TEXT NOT NULL,
  PRIMARY KEY (service_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE secret_files (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  content_sealed TEXT NOT NULL,
  PRIMARY KEY (service_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  format TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  file_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sources_by_service ON sources (service_id);

-- What a rollback goes back to: the built files, and everything that an instance is started with.
CREATE TABLE releases (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  source_id TEXT NOT NULL,
  -- Content address of the built files, the name of their folder.
  artifact TEXT NOT NULL,
  -- JSON of how the artifact was built to run: runtime, start command, environment of the toolchain.
  launch TEXT NOT NULL,
  -- JSON of ServiceSettings at the time.
  settings TEXT NOT NULL,
  -- Sealed JSON of env vars and secret files at the time.
  secrets_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX releases_by_service ON releases (service_id);

CREATE TABLE deploys (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  trigger TEXT NOT NULL,
  source_id TEXT,
  release_id TEXT,
  rollback_of TEXT,
  clear_cache INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  -- How often a start of the control plane found it unfinished.
  interruptions INTEGER NOT NULL DEFAULT 0,
  cancel_requested_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  -- When it entered update_in_progress: the deadline of its health counts from here.
  update_started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX deploys_by_service ON deploys (service_id, id);
CREATE INDEX deploys_unfinished ON deploys (status) WHERE finished_at IS NULL;

CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id),
  deploy_id TEXT NOT NULL,
  release_id TEXT NOT NULL,
  generation INTEGER NOT NULL,
  port INTEGER NOT NULL UNIQUE,
  -- pending · starting · ready · serving · draining, see instances/plan.ts
  phase TEXT NOT NULL,
  restarts INTEGER NOT NULL DEFAULT 0,
  -- JSON array of its latest exits, for back-off, crash loops and reasons.
  exits TEXT NOT NULL DEFAULT '[]',
  -- When a pending instance is to be started.
  start_at INTEGER NOT NULL,
  draining_at INTEGER,
  started_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX instances_by_service ON instances (service_id);

CREATE TABLE events (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  details TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_service ON events (service_id, id);
