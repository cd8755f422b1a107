-- Events are of a workspace. They outlive their services, and are read in the order in which they were committed.
CREATE TABLE events_in_order (
  -- Never given twice, so readers that go on after the last one they saw miss none.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  -- Null for what is of no service. No foreign key: the service may be gone.
  service_id TEXT,
  -- Name and environment of the service as they were.
  service_name TEXT,
  environment_id TEXT,
  type TEXT NOT NULL,
  details TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO events_in_order (id, workspace_id, service_id, service_name, environment_id, type, details, created_at)
  SELECT events.id, events.workspace_id, events.service_id, services.name, services.environment_id, events.type, events.details, events.created_at
  FROM events LEFT JOIN services ON services.id = events.service_id
  ORDER BY events.created_at, events.id;
DROP TABLE events;
ALTER TABLE events_in_order RENAME TO events;
-- Each ends with seq, the row id, so a page is read off its end.
CREATE INDEX events_by_workspace ON events (workspace_id);
CREATE INDEX events_by_type ON events (workspace_id, type);
CREATE INDEX events_by_service ON events (service_id) WHERE service_id IS NOT NULL;
CREATE INDEX events_by_service_and_type ON events (service_id, type) WHERE service_id IS NOT NULL;
CREATE INDEX events_by_environment ON events (environment_id, type) WHERE environment_id IS NOT NULL;

-- Who goes through all events, and the last that each has dealt with: those after it are kept.
CREATE TABLE event_readers (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
