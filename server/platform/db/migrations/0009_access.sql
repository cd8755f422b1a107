CREATE TABLE roles (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- Members, keys and invites hold roles by name, spelled as here.
  name TEXT NOT NULL,
  -- The name without letter case, of which SQLite knows that of ASCII only: see roleKey. Names of the same key are the same.
  name_key TEXT NOT NULL,
  description TEXT NOT NULL,
  -- JSON array of names of permissions.
  permissions TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (workspace_id, name_key)
) STRICT;

ALTER TABLE workspaces ADD COLUMN requires_two_factor INTEGER NOT NULL DEFAULT 0;
-- Set when deletion begins: nobody enters it from then on. The row goes when nothing of it is left.
ALTER TABLE workspaces ADD COLUMN deleted_at INTEGER;

-- In the order in which a user's first workspace is looked for, with every request of theirs: sorting them costs more than all the rest.
DROP INDEX members_by_user;
CREATE INDEX members_by_user ON members (user_id, created_at, workspace_id);

-- JSON array of ids of services that a member or key is confined to; null is the whole workspace.
ALTER TABLE members ADD COLUMN scope TEXT;
ALTER TABLE api_keys ADD COLUMN scope TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
-- Written at most once a minute.
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
-- A key that was made with a key belongs to the user of that one from now on, so that it ends with their membership.
WITH RECURSIVE behind (id, maker) AS (
  SELECT id, created_by FROM api_keys
  UNION SELECT behind.id, k.created_by FROM behind JOIN api_keys k ON k.id = behind.maker
)
UPDATE api_keys SET created_by = (
  SELECT maker FROM behind WHERE behind.id = api_keys.id AND maker NOT IN (SELECT k.id FROM api_keys k)
);

CREATE TABLE invites (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  email TEXT NOT NULL COLLATE NOCASE,
  role TEXT NOT NULL,
  scope TEXT,
  token_hash TEXT NOT NULL UNIQUE,
  -- Whose right to invite is looked at again when it is accepted: user, api_key or static_token, and the id.
  inviter_type TEXT NOT NULL,
  inviter_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (workspace_id, email)
) STRICT;

-- The password hash is empty for an account that signs in through a provider only.
ALTER TABLE users ADD COLUMN totp_secret_sealed TEXT;
-- Null while the secret waits for its first right code.
ALTER TABLE users ADD COLUMN totp_confirmed_at INTEGER;
-- The newest time step a code was taken of: none is taken twice.
ALTER TABLE users ADD COLUMN totp_last_step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN last_seen_at INTEGER;
-- When somebody showed that mail to the address reaches the owner of the account; registering with it shows nothing.
ALTER TABLE users ADD COLUMN email_proven_at INTEGER;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE password_resets (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- Whether the link went to the mailbox of the account and nowhere else.
  is_mailed INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX password_resets_by_user ON password_resets (user_id);

-- Sessions get an id by which they are listed and ended. Those of devices have a short-lived token and a refresh token as well.
CREATE TABLE sessions_with_ids (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- browser · device
  kind TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  -- When the token ends, where it does so before the session.
  token_expires_at INTEGER,
  refresh_hash TEXT UNIQUE,
  -- Of what all refresh tokens of one session have in common: whoever shows another one than the present has a copy.
  refresh_family_hash TEXT UNIQUE,
  -- How long each of its tokens lasts.
  token_lifetime_ms INTEGER,
  address TEXT NOT NULL,
  -- What the client calls itself: User-Agent, or the name of the device.
  client TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Written at most once a minute.
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO sessions_with_ids (id, user_id, kind, token_hash, address, client, created_at, last_seen_at, expires_at)
  SELECT 'ses-' || lower(hex(randomblob(10))), user_id, 'browser', token_hash, '', '', created_at, created_at, expires_at FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_with_ids RENAME TO sessions;
CREATE INDEX sessions_by_user ON sessions (user_id);

-- A sign-in whose first factor was right and whose second is waited for.
CREATE TABLE pending_sign_ins (
  token_hash TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

-- Accounts at identity providers, known by issuer and subject.
CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  provider TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT;
CREATE UNIQUE INDEX identities_by_user ON identities (user_id, provider);

-- Sign-ins under way at a provider; each is good for one callback, in the browser that began it.
CREATE TABLE oauth_attempts (
  state_hash TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  browser_hash TEXT NOT NULL,
  nonce TEXT NOT NULL,
  verifier_sealed TEXT NOT NULL,
  -- The user that an account is to be linked to; null is a sign-in.
  link_user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  -- The invite that is to be accepted, if the sign-in came from one.
  invite_token_sealed TEXT,
  return_to TEXT NOT NULL,
  -- What a form of the provider brought, until the browser asks with its cookie.
  answer_sealed TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_attempts_by_end ON oauth_attempts (expires_at);

CREATE TABLE device_grants (
  device_hash TEXT PRIMARY KEY,
  user_code TEXT NOT NULL UNIQUE,
  -- What the program calls itself, and the id that OAuth knows it by.
  client TEXT NOT NULL,
  client_id TEXT NOT NULL,
  address TEXT NOT NULL,
  -- pending · approved · denied
  status TEXT NOT NULL,
  user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  polled_at INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
