-- Up to when the log is known of a set that another installation has written to the bucket (ms since 1970). Null for our own.
ALTER TABLE backup_sets ADD COLUMN adopted_until INTEGER;
