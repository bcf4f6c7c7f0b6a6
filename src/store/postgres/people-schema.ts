import type { Migration } from '../migration.ts';

/** Never edited, not even its blanks. */
export const peopleSchema: Migration = {
  number: 12,
  name: 'people, their sessions and what they did',
  sql: `
      CREATE TABLE users (
        id text COLLATE "C" PRIMARY KEY,
        email text COLLATE "C" NOT NULL UNIQUE,
        password_hash text,
        totp_secret text,
        totp_step bigint NOT NULL,
        is_operator bigint NOT NULL,
        created_at_ms bigint NOT NULL
      );

      CREATE TABLE recovery_codes (
        user_id text COLLATE "C" NOT NULL REFERENCES users (id),
        hash text COLLATE "C" NOT NULL,
        PRIMARY KEY (user_id, hash)
      );

      CREATE TABLE memberships (
        account_id text COLLATE "C" NOT NULL REFERENCES accounts (id),
        user_id text COLLATE "C" NOT NULL REFERENCES users (id),
        role text NOT NULL,
        created_at_ms bigint NOT NULL,
        PRIMARY KEY (account_id, user_id)
      );
      CREATE INDEX memberships_by_user ON memberships (user_id);

      CREATE TABLE dashboard_sessions (
        id text COLLATE "C" PRIMARY KEY,
        token_hash text COLLATE "C" NOT NULL UNIQUE,
        user_id text COLLATE "C" NOT NULL REFERENCES users (id),
        account_id text COLLATE "C",
        area text NOT NULL,
        stage text NOT NULL,
        created_at_ms bigint NOT NULL,
        last_seen_at_ms bigint NOT NULL,
        expires_at_ms bigint NOT NULL,
        address text NOT NULL,
        user_agent text NOT NULL
      );
      CREATE INDEX dashboard_sessions_by_user ON dashboard_sessions (user_id, created_at_ms);

      -- A link that was used is gone.
      CREATE TABLE one_time_links (
        id text COLLATE "C" PRIMARY KEY,
        token_hash text COLLATE "C" NOT NULL UNIQUE,
        kind text NOT NULL,
        email text COLLATE "C" NOT NULL,
        user_id text COLLATE "C" REFERENCES users (id),
        account_id text COLLATE "C" REFERENCES accounts (id),
        role text,
        created_at_ms bigint NOT NULL,
        expires_at_ms bigint NOT NULL
      );
      CREATE INDEX one_time_links_by_user ON one_time_links (user_id) WHERE user_id IS NOT NULL;
      CREATE INDEX one_time_links_by_account ON one_time_links (account_id) WHERE account_id IS NOT NULL;

      -- Positions are counted in each account, so that the oldest beyond a number are found by arithmetic.
      CREATE TABLE audit_entries (
        account_id text COLLATE "C" NOT NULL,
        position bigint NOT NULL,
        at_ms bigint NOT NULL,
        actor text NOT NULL,
        user_id text COLLATE "C",
        action text NOT NULL,
        target text,
        address text,
        PRIMARY KEY (account_id, position)
      );

      ALTER TABLE api_keys ADD COLUMN last_used_at_ms bigint;
    `,
};
