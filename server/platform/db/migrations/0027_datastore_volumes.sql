-- The size in GiB that the volume of a datastore is to have; null where it has its size.
ALTER TABLE datastores ADD COLUMN grow_to_gb INTEGER;
-- Why its server does not come up, in words for people; null while it does.
ALTER TABLE datastores ADD COLUMN problem TEXT;
