-- A disk outlives its service for a while, so it hangs on the workspace.
CREATE TABLE disks (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- The service may be gone: see kept_until.
  service_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mount_path TEXT NOT NULL,
  size_gb INTEGER NOT NULL,
  -- An ext4 file system in a file of exactly that size, or a plain folder where the machine has no such thing.
  is_image INTEGER NOT NULL,
  -- What is being done with it. Written before anything is done, and `available` when it is.
  status TEXT NOT NULL,
  -- While it is resizing.
  grow_to_gb INTEGER,
  -- While it is restoring: the snapshot, and the one that what is there now becomes.
  restore_key TEXT,
  replaced_key TEXT,
  -- Whose the files are.
  uid INTEGER NOT NULL,
  -- Set when its service is deleted.
  deleted_at INTEGER,
  kept_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX disks_by_workspace ON disks (workspace_id);

CREATE TABLE disk_snapshots (
  key TEXT PRIMARY KEY,
  disk_id TEXT NOT NULL REFERENCES disks (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  origin TEXT NOT NULL,
  reason TEXT,
  size_bytes INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX disk_snapshots_by_disk ON disk_snapshots (disk_id);

-- How a deploy takes the place of the one before; null until it does.
ALTER TABLE deploys ADD COLUMN strategy TEXT;
-- Of a stop-first deploy: when the old release left the routes, and how long nothing was in them.
ALTER TABLE deploys ADD COLUMN routes_left_at INTEGER;
ALTER TABLE deploys ADD COLUMN gap_ms INTEGER;
