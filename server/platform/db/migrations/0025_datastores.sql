-- Managed Postgres databases and key-value stores.
CREATE TABLE datastores (
  id TEXT PRIMARY KEY,
  -- postgres · key_value
  kind TEXT NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  environment_id TEXT REFERENCES environments (id),
  name TEXT NOT NULL,
  -- Out of the numbers that services have theirs from: user ids and addresses come of it.
  number INTEGER NOT NULL UNIQUE,
  plan TEXT NOT NULL,
  -- The major version of the program, such as 18; what is beyond it follows the programs of this machine.
  version TEXT NOT NULL,
  volume_id TEXT NOT NULL UNIQUE,
  -- image · folder
  volume_kind TEXT NOT NULL,
  size_gb INTEGER NOT NULL,
  -- JSON array of {cidrBlock, description}: who may connect from outside. Empty is nobody.
  ip_allow_list TEXT NOT NULL,
  -- creating · ready · recovering · recovery_failed · deleting
  phase TEXT NOT NULL,
  -- Counted up by what needs a fresh start of the server: a restart, another plan, other parameters.
  generation INTEGER NOT NULL DEFAULT 1,
  -- JSON array of who suspended it: user, admin, billing. Null while it runs.
  suspended_by TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX datastores_by_name ON datastores (workspace_id, name) WHERE phase <> 'deleting';
CREATE INDEX datastores_by_environment ON datastores (environment_id) WHERE environment_id IS NOT NULL;

CREATE TABLE postgres_databases (
  id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  database_name TEXT NOT NULL,
  -- The first role of the tenant, which owns the database and all that other roles make in it.
  database_user TEXT NOT NULL,
  -- JSON object of settings of the server that replace those of the plan.
  parameter_overrides TEXT NOT NULL DEFAULT '{}',
  -- none · pgbouncer
  connection_pool TEXT NOT NULL DEFAULT 'none',
  is_autoscaling INTEGER NOT NULL DEFAULT 0,
  is_highly_available INTEGER NOT NULL DEFAULT 0,
  -- Sealed passwords of the platform's own roles: of its superuser, and of who streams and takes backups.
  admin_password_sealed TEXT NOT NULL,
  backup_password_sealed TEXT NOT NULL
) STRICT;

CREATE TABLE key_value_stores (
  id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  -- As it is told by the API: allkeys_lru, say.
  maxmemory_policy TEXT NOT NULL,
  -- journal_snapshot · snapshot · off
  persistence_mode TEXT NOT NULL,
  -- Of the platform's own user.
  admin_password_sealed TEXT NOT NULL
) STRICT;

-- Passwords that tenants connect with. A rotation keeps the former one for a while.
CREATE TABLE datastore_credentials (
  datastore_id TEXT NOT NULL REFERENCES datastores (id) ON DELETE CASCADE,
  user_name TEXT NOT NULL,
  password_sealed TEXT NOT NULL,
  -- Null for the one that is handed out; when it ends for one that was replaced.
  valid_until INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (datastore_id, user_name)
) STRICT;

-- Roles that were let see services were let see that there is no database.
UPDATE roles SET permissions = json_insert(permissions, '$[#]', 'datastores.read')
WHERE EXISTS (SELECT 1 FROM json_each(permissions) WHERE value = 'services.read');
