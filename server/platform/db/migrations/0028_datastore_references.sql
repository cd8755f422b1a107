-- Variables that refer to a database or key-value store: which, and what of it. Their sealed value is empty.
-- No foreign key: what refers to one that is gone is told so.
ALTER TABLE env_vars ADD COLUMN datastore_id TEXT;
ALTER TABLE env_vars ADD COLUMN datastore_property TEXT;
CREATE INDEX env_vars_by_datastore ON env_vars (datastore_id) WHERE datastore_id IS NOT NULL;

-- JSON array of the ids that variables of the group refer to, which stand in the sealed text as well.
ALTER TABLE env_groups ADD COLUMN datastore_ids TEXT NOT NULL DEFAULT '[]';
