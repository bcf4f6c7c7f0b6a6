import { ScanRefusedError } from '../settlement/settlement-store.ts';

/** Another process serves this database. One process writes at a time; the operator ends the other one first. */
export class StoreInUseError extends Error {
  override readonly name = 'StoreInUseError';

  constructor(file: string) {
    super(
      `${file} is in use by another process: stop that one first. ` +
        'A second service beside it needs a DATA_DIR and PORT of its own',
    );
  }
}

/** The database was written by a newer version, whose rows this version might misread. */
export class StoreTooNewError extends Error {
  override readonly name = 'StoreTooNewError';
  readonly foundMigration: number;
  readonly knownMigration: number;

  constructor(file: string, foundMigration: number, knownMigration: number) {
    super(
      `${file} was written by a newer version (its schema is ${foundMigration}, this version knows ${knownMigration}); ` +
        'install that version or a later one',
    );
    this.foundMigration = foundMigration;
    this.knownMigration = knownMigration;
  }
}

/** The database was written by an older version. Only a few commands may change that, because it cannot be undone. */
export class StoreOutdatedError extends Error {
  override readonly name = 'StoreOutdatedError';

  constructor(database: string, foundMigration: number, knownMigration: number) {
    super(
      `${database} has schema ${foundMigration}, and this version needs ${knownMigration}: back it up, ` +
        'then run `card-checkout migrate`, which cannot be undone (with --plan, it only says what it would do)',
    );
  }
}

/** The database was made by a commit from before the first release; its data is not carried over. */
export class UnreleasedSchemaError extends Error {
  override readonly name = 'UnreleasedSchemaError';

  /** @param emptyPlace what the operator sets so that a new database is made */
  constructor(database: string, emptyPlace: string) {
    super(
      `${database} was made by a version from before the first release, and its data cannot be carried over: ` +
        `set ${emptyPlace}, and make a new database with \`card-checkout init\``,
    );
  }
}

/** The store was closed before this was asked of it. */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError';

  constructor() {
    super('the store is closed');
  }
}

/** More waits to be written or read than may wait; nothing of this request was done. */
export class StoreOverloadedError extends Error {
  override readonly name = 'StoreOverloadedError';

  constructor(waiting: number) {
    super(`${waiting} requests to the store are waiting already`);
  }
}

/** The database could not be written to (locked by another program, disk full, input/output error). */
export class StoreWriteError extends Error {
  override readonly name = 'StoreWriteError';
}

/**
 * What is to be recorded of a relayer's batch contradicts what is recorded: one is in flight already, or this one no
 * longer is. Another process with the same key may have been quicker. Nothing was written.
 */
export class RelayConflictError extends Error {
  override readonly name = 'RelayConflictError';
}

/**
 * What is to be recorded of the chain contradicts what is recorded already: another writer has moved the cursor, or
 * a final transaction turns up in another block or with other contents. Nothing was written.
 */
export class ObservationConflictError extends ScanRefusedError {
  override readonly name = 'ObservationConflictError';

  constructor(message: string, conflict: 'cursor' | 'rows' = 'cursor') {
    super(message, conflict);
  }
}

/** A database cannot be moved from or to as it is; nothing was read or written. The message says what to do. */
export class MoveRefusedError extends Error {
  override readonly name = 'MoveRefusedError';
}
