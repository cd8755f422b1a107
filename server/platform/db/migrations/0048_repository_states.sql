-- Since when (ms since 1970) what stands in `problem` goes on; null while a branch can be looked at.
ALTER TABLE branch_looks ADD COLUMN problem_since INTEGER;
-- Whether an event has told that the repository cannot be reached, and none since that it can.
ALTER TABLE branch_looks ADD COLUMN is_told INTEGER NOT NULL DEFAULT 0;
UPDATE branch_looks SET problem_since = unixepoch() * 1000 WHERE problem IS NOT NULL;

-- What a commit waits for, in words that people read.
ALTER TABLE check_waits ADD COLUMN awaits TEXT NOT NULL DEFAULT 'its checks';
-- When a check of it has failed, whose next run may pass; null while none has.
ALTER TABLE check_waits ADD COLUMN failed_at INTEGER;
