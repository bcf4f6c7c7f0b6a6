import { migrations } from '../../src/app/migrations.ts';
import type { Migration } from '../../src/store/migration.ts';

/** A database as the last commits before the first release made it, as far as a program looks at it. */
export const unreleasedSchema = `
  CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms BIGINT NOT NULL);
  CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
  INSERT INTO accounts VALUES ('acc_1', 'Shop');
  INSERT INTO migrations VALUES (1, 'initial schema', 0);
  INSERT INTO migrations VALUES (2, 'number of the last deleted event', 0);
  INSERT INTO migrations VALUES (3, 'sums of dust', 0);
`;

/** A made-up migration of a later version, for both engines: a column with a value for old rows, and a table. */
export const nextMigration: Migration = {
  number: migrations.SQLite.length + 1,
  name: 'colors of payments',
  sql: `
    ALTER TABLE payments ADD COLUMN color TEXT NOT NULL DEFAULT 'unknown';
    CREATE TABLE colors (payment_id TEXT PRIMARY KEY);
    INSERT INTO colors SELECT id FROM payments
  `,
  oldestVersion: '0.1.0',
  lock: 'milliseconds',
};
