-- Volumes with a database cluster that was made ahead, which are nobody's yet.
CREATE TABLE postgres_spares (
  volume_id TEXT PRIMARY KEY,
  -- image · folder
  volume_kind TEXT NOT NULL,
  size_gb INTEGER NOT NULL,
  -- Out of the numbers that services have theirs from. The database that adopts the volume has it from then on.
  number INTEGER NOT NULL UNIQUE,
  -- The major version, such as 18.
  version TEXT NOT NULL,
  -- Names the very programs that made it.
  program TEXT NOT NULL,
  -- Of the platform's superuser in it.
  admin_password_sealed TEXT NOT NULL,
  -- making · ready. One that is found being made at a start is thrown away.
  phase TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
