import type { Migration } from '../migration.ts';

/** Never edited, not even its blanks. */
export const peopleSchema: Migration = {
  number: 11,
  name: 'people, their sessions and what they did',
  sql: `
      CREATE TABLE users (
        id TEXT PRIMARY KEY NOT NULL,
        email TEXT NOT NULL UNIQUE,
        password_hash TEXT,
        totp_secret TEXT,
        totp_step INTEGER NOT NULL,
        is_operator INTEGER NOT NULL,
        created_at_ms INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE recovery_codes (
        user_id TEXT NOT NULL REFERENCES users (id),
        hash TEXT NOT NULL,
        PRIMARY KEY (user_id, hash)
      ) STRICT;

      CREATE TABLE memberships (
        account_id TEXT NOT NULL REFERENCES accounts (id),
        user_id TEXT NOT NULL REFERENCES users (id),
        role TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        PRIMARY KEY (account_id, user_id)
      ) STRICT;
      CREATE INDEX memberships_by_user ON memberships (user_id);

      CREATE TABLE dashboard_sessions (
        id TEXT PRIMARY KEY NOT NULL,
        token_hash TEXT NOT NULL UNIQUE,
        user_id TEXT NOT NULL REFERENCES users (id),
        account_id TEXT,
        area TEXT NOT NULL,
        stage TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        last_seen_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        address TEXT NOT NULL,
        user_agent TEXT NOT NULL
      ) STRICT;
      CREATE INDEX dashboard_sessions_by_user ON dashboard_sessions (user_id, created_at_ms);

      -- A link that was used is gone.
      CREATE TABLE one_time_links (
        id TEXT PRIMARY KEY NOT NULL,
        token_hash TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        email TEXT NOT NULL,
        user_id TEXT REFERENCES users (id),
        account_id TEXT REFERENCES accounts (id),
        role TEXT,
        created_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX one_time_links_by_user ON one_time_links (user_id) WHERE user_id IS NOT NULL;
      CREATE INDEX one_time_links_by_account ON one_time_links (account_id) WHERE account_id IS NOT NULL;

      -- Positions are counted in each account, so that the oldest beyond a number are found by arithmetic.
      CREATE TABLE audit_entries (
        account_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL,
        user_id TEXT,
        action TEXT NOT NULL,
        target TEXT,
        address TEXT,
        PRIMARY KEY (account_id, position)
      ) STRICT, WITHOUT ROWID;

      ALTER TABLE api_keys ADD COLUMN last_used_at_ms INTEGER;
    `,
};
