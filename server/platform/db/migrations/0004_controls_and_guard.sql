-- JSON of ServiceControls: what is in force at once and no part of a release. Fields that are absent are the defaults.
ALTER TABLE services ADD COLUMN controls TEXT NOT NULL DEFAULT '{}';

-- While a new release is watched, the one it took the place of: its instances run on, out of the routes. All null otherwise.
ALTER TABLE services ADD COLUMN guard_deploy_id TEXT;
ALTER TABLE services ADD COLUMN guard_generation INTEGER;
ALTER TABLE services ADD COLUMN guard_started_at INTEGER;
ALTER TABLE services ADD COLUMN guard_until INTEGER;
-- JSON of what was counted of the old release before the switch.
ALTER TABLE services ADD COLUMN guard_baseline TEXT;
