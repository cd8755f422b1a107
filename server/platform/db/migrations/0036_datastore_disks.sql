-- How full the disk was when somebody was told: ok, nearly_full or full.
ALTER TABLE datastores ADD COLUMN disk_state TEXT NOT NULL DEFAULT 'ok';
-- When it could not grow by itself (ms since 1970); null where it could, or had not to.
ALTER TABLE datastores ADD COLUMN growth_refused_at INTEGER;
-- Settings of the owner with which its server has come up.
ALTER TABLE postgres_databases ADD COLUMN proven_parameters TEXT NOT NULL DEFAULT '{}';
UPDATE postgres_databases SET proven_parameters = parameter_overrides;
