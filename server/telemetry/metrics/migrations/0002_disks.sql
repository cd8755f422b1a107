-- Bytes of an owner's disk, taken and in all; 0 where nothing was known of one.
ALTER TABLE usage_fine ADD COLUMN disk INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_fine ADD COLUMN disk_size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN disk INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN disk_size INTEGER NOT NULL DEFAULT 0;
