-- What a datastore is: primary · replica, which is read from alone · standby, which takes the place of its primary and is nobody's to see.
ALTER TABLE datastores ADD COLUMN role TEXT NOT NULL DEFAULT 'primary';
-- Whom a replica or standby takes its content from, and follows in plan, size and place.
ALTER TABLE datastores ADD COLUMN primary_id TEXT REFERENCES datastores (id);
-- Counted up when the content is to be taken from the primary anew.
ALTER TABLE datastores ADD COLUMN copy INTEGER NOT NULL DEFAULT 1;
CREATE INDEX datastores_by_primary ON datastores (primary_id) WHERE primary_id IS NOT NULL;
DROP INDEX datastores_by_name;
CREATE UNIQUE INDEX datastores_by_name ON datastores (workspace_id, name) WHERE phase <> 'deleting' AND role <> 'standby';
