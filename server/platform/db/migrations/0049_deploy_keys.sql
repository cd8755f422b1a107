-- Keys that let services in at git servers by ssh, one for each service that somebody asked for it.
CREATE TABLE deploy_keys (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  public_key TEXT NOT NULL,
  private_key_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Keys that servers have shown when a service first came to them. Each service trusts what it has seen itself.
CREATE TABLE git_host_keys (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  public_key TEXT NOT NULL,
  pinned_at INTEGER NOT NULL,
  PRIMARY KEY (service_id, host)
) STRICT;
