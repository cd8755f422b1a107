-- While it is to be asleep, since when and how: freeze · stop. Both null otherwise.
ALTER TABLE services ADD COLUMN asleep_at INTEGER;
ALTER TABLE services ADD COLUMN asleep_how TEXT;
-- When it was last woken, or kept from falling asleep: from then on it counts as idle at the earliest.
ALTER TABLE services ADD COLUMN woken_at INTEGER;

-- Set before an instance is frozen and unset after it was thawed: while it is, nobody knows but that it may be frozen.
ALTER TABLE instances ADD COLUMN frozen_at INTEGER;
