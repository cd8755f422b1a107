-- JSON of ServiceLabels: what clients of Render's API say of a service and expect to read again. Nothing goes by it yet.
ALTER TABLE services ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';

-- How a service differs from its workspace in what people are told of it. Absent: in nothing.
CREATE TABLE notification_overrides (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  notifications_to_send TEXT NOT NULL,
  preview_notifications_enabled TEXT NOT NULL
) STRICT, WITHOUT ROWID;
