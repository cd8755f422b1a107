-- Whether the volume of a database has what a server starts with. It is made before the first start.
ALTER TABLE postgres_databases ADD COLUMN has_cluster INTEGER NOT NULL DEFAULT 1;
UPDATE postgres_databases SET has_cluster = 0 WHERE id IN (SELECT id FROM datastores WHERE phase = 'creating');
