-- Secret URLs that deploy a service. Each is made when somebody first asks for it.
CREATE TABLE deploy_hooks (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  -- SHA-256 of the token, by which it is found.
  token_hash TEXT NOT NULL UNIQUE,
  -- The token itself, so that it can be shown again.
  token_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
