-- What people of a workspace are told, and where. Without a row it is as by default.
CREATE TABLE notification_settings (
  workspace_id TEXT PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  -- none · failure · all
  to_send TEXT NOT NULL,
  is_email_enabled INTEGER NOT NULL,
  are_previews_enabled INTEGER NOT NULL,
  slack_url_sealed TEXT,
  discord_url_sealed TEXT
) STRICT;

-- People who want no mail of a workspace.
CREATE TABLE notification_refusals (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, workspace_id)
) STRICT;
CREATE INDEX notification_refusals_by_workspace ON notification_refusals (workspace_id);

-- Failures that were told and are not over yet.
CREATE TABLE notification_problems (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- Empty for what is of no service.
  service_id TEXT NOT NULL,
  service_name TEXT,
  topic TEXT NOT NULL,
  -- What failed of the topic, such as the id of a deploy; null where one failure is like the other.
  about TEXT,
  -- When it counts as over, unless it fails again before; null while it does not seem to be.
  over_at INTEGER,
  PRIMARY KEY (workspace_id, service_id, topic)
) STRICT;
CREATE INDEX notification_problems_over ON notification_problems (workspace_id, over_at) WHERE over_at IS NOT NULL;

-- What is to be told, until it stands in messages.
CREATE TABLE notification_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  service_id TEXT,
  service_name TEXT,
  -- failure · over · news
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  reason TEXT,
  -- Whose last lines belong to it, by the label that the log has.
  log_instance TEXT,
  deploy_id TEXT,
  happened_at INTEGER NOT NULL,
  -- When it was taken up: messages are made by this time.
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_items_by_workspace ON notification_items (workspace_id, id);

-- Messages on their way.
CREATE TABLE notification_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- email · slack · discord
  channel TEXT NOT NULL,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_messages_due ON notification_messages (workspace_id, next_attempt_at);
CREATE INDEX notification_messages_by_user ON notification_messages (user_id) WHERE user_id IS NOT NULL;
