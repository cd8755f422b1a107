-- One chain of entries for each workspace, so that whoever may read it can verify it whole. It refers to nothing and outlives everything.
CREATE TABLE audit_log (
  workspace_id TEXT NOT NULL,
  -- 1, 2, 3 … without gaps.
  seq INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  event TEXT NOT NULL,
  -- success · error
  status TEXT NOT NULL,
  -- user · rest_api · system
  actor_type TEXT NOT NULL,
  actor_id TEXT,
  actor_email TEXT,
  target TEXT,
  ip TEXT,
  request_id TEXT,
  -- JSON, secrets masked.
  metadata TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  -- Over all the others, the signature included.
  hash TEXT NOT NULL,
  -- Ed25519 over all the others but the hash, base64.
  signature TEXT NOT NULL,
  PRIMARY KEY (workspace_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_by_event ON audit_log (workspace_id, event, seq);
CREATE INDEX audit_log_by_actor ON audit_log (workspace_id, actor_id, seq);
CREATE INDEX audit_log_by_email ON audit_log (workspace_id, actor_email, seq) WHERE actor_email IS NOT NULL;

-- The newest entry of each chain, signed as such: it is replaced with each entry, so that a chain that was cut has none.
CREATE TABLE audit_heads (
  workspace_id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  signature TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Against mistakes of our own; who can write the file can drop these.
CREATE TRIGGER audit_log_stays BEFORE DELETE ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_log_is_final BEFORE UPDATE ON audit_log BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
