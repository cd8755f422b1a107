-- Previews of pull requests are services of their own. The commit of one that was made from a fork is the only one that is fetched for it.
ALTER TABLE services ADD COLUMN preview_of TEXT;
ALTER TABLE services ADD COLUMN foreign_commit TEXT;
CREATE INDEX services_by_parent ON services (preview_of) WHERE preview_of IS NOT NULL;

-- Requests at the source host of a service's repository, with what becomes of each.
CREATE TABLE previews (
  parent_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  repository TEXT NOT NULL,
  title TEXT NOT NULL,
  url TEXT NOT NULL,
  head_branch TEXT NOT NULL,
  head_repository TEXT NOT NULL,
  head_commit TEXT NOT NULL,
  is_fork INTEGER NOT NULL,
  is_open INTEGER NOT NULL,
  is_labelled INTEGER NOT NULL DEFAULT 0,
  is_asked INTEGER NOT NULL DEFAULT 0,
  -- A preview that somebody has deleted comes back with another commit.
  dismissed_commit TEXT,
  approved_commit TEXT,
  deployed_commit TEXT,
  service_id TEXT,
  problem TEXT,
  pushed_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The comment at the request: it is found again by its mark where its making was not heard of.
  comment_mark TEXT,
  comment_id TEXT,
  comment_text TEXT NOT NULL DEFAULT '',
  comment_attempts INTEGER NOT NULL DEFAULT 0,
  comment_next_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (parent_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX previews_by_service ON previews (service_id) WHERE service_id IS NOT NULL;

-- What a variable is in previews, whoever has it elsewhere: the service itself or a group.
CREATE TABLE preview_values (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value_sealed TEXT NOT NULL,
  PRIMARY KEY (service_id, key)
) STRICT, WITHOUT ROWID;
