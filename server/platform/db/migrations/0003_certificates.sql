-- Certificates with their keys. A renewed one is a row of its own, and the one before it goes.
CREATE TABLE certificates (
  id TEXT PRIMARY KEY,
  -- The one name it is held for, `*.` in front for a wildcard; empty for the self-signed stand-in.
  host TEXT NOT NULL,
  -- acme · uploaded · self_signed
  source TEXT NOT NULL,
  -- The directory of the authority that issued it; empty where no directory did.
  directory TEXT NOT NULL DEFAULT '',
  -- Whose an uploaded one is: it goes with its domain, and never to the next who adds the name.
  domain_id TEXT REFERENCES custom_domains (id) ON DELETE CASCADE,
  -- PEM, the host's own first.
  chain TEXT NOT NULL,
  key_sealed TEXT NOT NULL,
  issuer TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  -- Set when it was told that an uploaded one is about to end.
  warned_at INTEGER,
  -- Set when it is served no longer; the row goes when the authority has revoked it, or was asked often enough.
  removed_at INTEGER,
  revoke_attempts INTEGER NOT NULL DEFAULT 0,
  next_revoke_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX certificates_in_use ON certificates (host, source) WHERE removed_at IS NULL;

-- One for each host that wants a certificate from the authority and has none, or whose own is due for renewal.
CREATE TABLE certificate_orders (
  host TEXT PRIMARY KEY,
  service_id TEXT,
  -- Of the order under way, all four or none: what is needed to take it up again.
  directory TEXT,
  order_url TEXT,
  certificate_id TEXT,
  key_sealed TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL
) STRICT;

-- Records that the DNS hook was told to set and not yet to remove.
CREATE TABLE dns_challenges (
  record_name TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (record_name, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE acme_accounts (
  directory TEXT PRIMARY KEY,
  key_sealed TEXT NOT NULL,
  -- Null until the authority has opened the account.
  url TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
