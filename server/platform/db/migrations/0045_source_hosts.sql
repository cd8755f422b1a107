-- Apps at GitHub that were made from a manifest, one of a workspace. What settings give stands in no row.
CREATE TABLE source_host_apps (
  workspace_id TEXT PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  app_id TEXT NOT NULL UNIQUE,
  client_id TEXT NOT NULL,
  -- Private key, secret of its webhook, and secret of the client, as JSON.
  secrets_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Accounts that workspaces are connected to.
CREATE TABLE source_host_installations (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  url TEXT NOT NULL,
  -- The app that is installed; empty where there is none.
  app_id TEXT NOT NULL,
  -- Id of the installation at GitHub, of the person at Gitea.
  external_id TEXT NOT NULL,
  account TEXT NOT NULL,
  -- Token of the person and secret of the webhooks at Gitea, as JSON; null where an app has them.
  secrets_sealed TEXT,
  problem TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
-- An installation of an app is of one workspace. A person at Gitea proves by a token who they are, in as many as they like.
CREATE UNIQUE INDEX source_host_installations_of_apps ON source_host_installations (provider, app_id, external_id) WHERE app_id <> '';
CREATE UNIQUE INDEX source_host_installations_of_people ON source_host_installations (workspace_id, provider, url, external_id) WHERE app_id = '';

-- Connections that somebody has begun in a browser.
CREATE TABLE source_host_attempts (
  state_hash TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- app: it is to be made · install
  purpose TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- Deliveries that were taken, so that none is taken twice. A signature is of the body, an id only of the sender's word.
CREATE TABLE source_host_deliveries (
  -- The app or the connection whose secret it is signed with.
  sender TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  signature TEXT NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (sender, delivery_id),
  UNIQUE (sender, signature)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_host_deliveries_by_age ON source_host_deliveries (taken_at);

-- Webhooks that were made at Gitea, by repository. Apps have one of their own.
CREATE TABLE source_host_hooks (
  installation_id TEXT NOT NULL REFERENCES source_host_installations (id) ON DELETE CASCADE,
  repo TEXT NOT NULL,
  -- Null from before it is made until its id is known.
  hook_id TEXT,
  problem TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  PRIMARY KEY (installation_id, repo)
) STRICT, WITHOUT ROWID;
