-- Why what is backed up does not come to the bucket, in words for people. Null while it does, and where there is no bucket.
ALTER TABLE backup_sets ADD COLUMN copy_problem TEXT;
