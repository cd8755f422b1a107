-- Services and datastores that a message is about, as JSON of ids, null among them for the whole workspace: who may not see them any more gets no
-- mail of them. Empty for messages of before.
ALTER TABLE notification_messages ADD COLUMN about TEXT NOT NULL DEFAULT '[]';
