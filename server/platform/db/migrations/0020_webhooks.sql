CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  is_enabled INTEGER NOT NULL,
  -- Why the platform disabled it; null while it is enabled, and where a person did.
  disabled_reason TEXT,
  -- Types of events, and what they are of: empty lists are all.
  event_filter TEXT NOT NULL,
  service_ids TEXT NOT NULL,
  environment_ids TEXT NOT NULL,
  project_ids TEXT NOT NULL,
  secret_sealed TEXT NOT NULL,
  -- The secret before this one, which signs as well until then.
  previous_secret_sealed TEXT,
  previous_secret_until INTEGER,
  -- The last event that was looked at: those after it wait here, and nowhere else.
  cursor_seq INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- Its deliveries are removed step by step before the row goes.
  deleted_at INTEGER
) STRICT;
CREATE INDEX webhooks_by_workspace ON webhooks (workspace_id);

-- Events that are being delivered: taken up and not yet tried, or to be tried again.
CREATE TABLE webhook_queue (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  service_id TEXT,
  event_type TEXT NOT NULL,
  -- Made once: each attempt sends these bytes.
  body TEXT NOT NULL,
  -- Attempts that failed.
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_queue_untried ON webhook_queue (webhook_id, seq) WHERE attempts = 0;
CREATE INDEX webhook_queue_retries ON webhook_queue (webhook_id, next_attempt_at) WHERE attempts > 0;
CREATE INDEX webhook_queue_due ON webhook_queue (next_attempt_at) WHERE attempts > 0;

-- Each attempt, as it went.
CREATE TABLE webhook_deliveries (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  sent_at INTEGER NOT NULL,
  id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status_code INTEGER,
  response_body TEXT,
  error TEXT,
  PRIMARY KEY (webhook_id, sent_at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (webhook_id, event_id);

-- Events that were asked for again: those after next_seq, up to to_seq.
CREATE TABLE webhook_replays (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  cursor_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL,
  -- Those of the range that were delivered are left out.
  is_only_missed INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_replays_by_webhook ON webhook_replays (webhook_id);
