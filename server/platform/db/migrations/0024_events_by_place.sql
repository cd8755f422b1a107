-- Which services have had events in an environment: asked before the events of those that have none there would be gone through.
CREATE INDEX events_by_service_and_environment ON events (service_id, environment_id) WHERE service_id IS NOT NULL;
