import { MoveRefusedError, StoreTooNewError } from './store-errors.ts';

/**
 * Refuses a move from or to a database whose schema is not this version's.
 *
 * @throws StoreTooNewError when a newer version has written it, `MoveRefusedError` when an older one has
 */
export function requireCurrentSchema(database: string, foundMigration: number, knownMigration: number): void {
  if (foundMigration > knownMigration) throw new StoreTooNewError(database, foundMigration, knownMigration);
  if (foundMigration < knownMigration) {
    throw new MoveRefusedError(
      `${database} was written by an older version (its schema is ${foundMigration}, this version has ` +
        `${knownMigration}); run any command of this version on it once, doctor for one`,
    );
  }
}

/** @throws MoveRefusedError when a table has rows, so that nothing is mixed or written twice */
export function requireEmpty(database: string, tablesWithRows: readonly string[]): void {
  if (tablesWithRows.length > 0) {
    throw new MoveRefusedError(
      `${database} is not empty (${tablesWithRows.join(', ')}); a store is moved into an empty database only`,
    );
  }
}
