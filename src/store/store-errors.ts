/** Error for a SQLite database that another process uses. Only one process may write. */
export class StoreInUseError extends Error {
  constructor(file: string) {
    super(
      `${file} is in use by another process: stop that one first. ` +
        'A second service beside it needs a DATA_DIR and PORT of its own',
    );
  }
}

/** Error for a schema that a newer version has migrated beyond what this version supports. */
export class StoreTooNewError extends Error {
  constructor(file: string, foundMigration: number, knownMigration: number) {
    super(
      `${file} was written by a newer version (its schema is ${foundMigration}, this version knows ${knownMigration}); ` +
        'install that version or a later one',
    );
  }
}

/** Error for a database of an older version, from commands that do not migrate databases. */
export class StoreOutdatedError extends Error {
  constructor(database: string, foundMigration: number, knownMigration: number) {
    super(
      `${database} has schema ${foundMigration}, and this version needs ${knownMigration}: back it up, ` +
        'then run `card-checkout migrate` (with --plan, it only says what it would do)',
    );
  }
}

/** Error for a database made by a commit from before the first release. Its data is not migrated. */
export class UnreleasedSchemaError extends Error {
  /** @param emptyPlace setting that selects a new database instead */
  constructor(database: string, emptyPlace: string) {
    super(
      `${database} was made by a version from before the first release, and its data cannot be carried over: ` +
        `set ${emptyPlace}, and make a new database with \`card-checkout init\``,
    );
  }
}

export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed');
  }
}

/** Error for a database that cannot be reached or written (connection lost, locked, disk full, input/output error). */
export class StoreWriteError extends Error {}

/** Error for a relay batch that conflicts with recorded batches, possibly of another process. Nothing was written. */
export class RelayConflictError extends Error {}

/** Error for a database that cannot be the source or target of a move in its current state. */
export class MoveRefusedError extends Error {}
