-- Host names of their owners' own, each led to one service once it is proven that its owner wants that.
CREATE TABLE custom_domains (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  -- In the form names are looked up by: lower case, punycode, without a dot at its end.
  name TEXT NOT NULL UNIQUE,
  -- apex · subdomain
  domain_type TEXT NOT NULL,
  public_suffix TEXT NOT NULL,
  -- The name that somebody registered: the public suffix and the label before it.
  registrable TEXT NOT NULL,
  -- What a TXT record has to hold. Random, but no secret: it is published in DNS.
  challenge TEXT NOT NULL,
  verified_at INTEGER,
  -- Until when it is looked at by itself; one that is unverified then gives way to whoever adds the name next.
  watched_until INTEGER NOT NULL,
  -- When somebody asked for a look; answered by one that began after it.
  requested_at INTEGER,
  -- The latest look that came to its end, and what it found (JSON).
  checked_at INTEGER,
  check_result TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX custom_domains_by_service ON custom_domains (service_id);
CREATE INDEX custom_domains_by_registrable ON custom_domains (registrable);
