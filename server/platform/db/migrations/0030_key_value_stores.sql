-- How a key-value store is kept on its volume, and the password that it had before.

-- How the files on the volume are to be read: journal_snapshot, snapshot or off. It follows persistence_mode when the server has written them so.
ALTER TABLE key_value_stores ADD COLUMN persistence_laid TEXT NOT NULL DEFAULT 'snapshot';
-- When persistence_mode was set.
ALTER TABLE key_value_stores ADD COLUMN persistence_set_at INTEGER NOT NULL DEFAULT 0;
-- The password before the one that is handed out, sealed, from when, and until when it is good.
ALTER TABLE key_value_stores ADD COLUMN former_password_sealed TEXT;
ALTER TABLE key_value_stores ADD COLUMN former_created_at INTEGER;
ALTER TABLE key_value_stores ADD COLUMN former_valid_until INTEGER;
-- Whether connections that were made with a password which is good no more are still to be ended.
ALTER TABLE key_value_stores ADD COLUMN is_cutting INTEGER NOT NULL DEFAULT 0;
