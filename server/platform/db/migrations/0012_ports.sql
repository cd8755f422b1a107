-- The port that a private service's own variables name, and why what an instance listens on cannot be used.
ALTER TABLE instances ADD COLUMN own_port INTEGER;
ALTER TABLE instances ADD COLUMN misplaced TEXT;
