-- What of a repository a deploy is of: its commit once that is known, and until then the branch, tag or commit that was asked for.
ALTER TABLE deploys ADD COLUMN ref TEXT;
ALTER TABLE deploys ADD COLUMN commit_id TEXT;
ALTER TABLE deploys ADD COLUMN commit_message TEXT;
ALTER TABLE deploys ADD COLUMN commit_author TEXT;
ALTER TABLE deploys ADD COLUMN committed_at INTEGER;

-- A source out of a repository is used again by deploys of the same commit.
ALTER TABLE sources ADD COLUMN repository TEXT;
ALTER TABLE sources ADD COLUMN commit_id TEXT;
ALTER TABLE sources ADD COLUMN commit_message TEXT;
ALTER TABLE sources ADD COLUMN commit_author TEXT;
ALTER TABLE sources ADD COLUMN committed_at INTEGER;
CREATE INDEX sources_by_commit ON sources (service_id, commit_id) WHERE commit_id IS NOT NULL;

-- How the last look at a service's branch went, which makes up for pushes that nobody told of.
CREATE TABLE branch_looks (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  -- Repository and branch that were looked at: of others, nothing is known yet.
  repository TEXT NOT NULL,
  branch TEXT NOT NULL,
  commit_id TEXT,
  problem TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL
) STRICT;
