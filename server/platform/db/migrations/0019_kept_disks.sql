-- Where the deleted service of a disk that is kept was: what is protected there stays so. Null for disks of services that are there. No
-- foreign key: a disk whose environment is gone too is still not everybody's.
ALTER TABLE disks ADD COLUMN kept_environment_id TEXT;
