-- A cluster of another major version writes a log of its own, in which names come again: each is a lineage of its database, counted from 0.
ALTER TABLE postgres_databases ADD COLUMN lineage INTEGER NOT NULL DEFAULT 0;
-- When it began (ms since 1970); null for the first.
ALTER TABLE postgres_databases ADD COLUMN lineage_at INTEGER;
ALTER TABLE backups ADD COLUMN lineage INTEGER NOT NULL DEFAULT 0;
ALTER TABLE backup_sets ADD COLUMN lineage INTEGER NOT NULL DEFAULT 0;
-- Lineages that have ended: JSON of their numbers, their major versions, and when the next one began.
ALTER TABLE backup_sets ADD COLUMN former TEXT NOT NULL DEFAULT '[]';
