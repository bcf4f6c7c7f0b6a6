import { createHash } from 'node:crypto';
import type { Table } from './columns.ts';
import { MoveRefusedError, StoreTooNewError } from './store-errors.ts';
import { tables } from './tables.ts';

/** Number of rows in memory at a time. */
export const PORTION_ROWS = 1_000;

/**
 * A value outside of any engine: an amount is decimal text, a list of text the text of a JSON array, and a document its
 * text exactly as it is stored.
 */
export type PortableValue = string | number | boolean | null;

/** The values of a row in the order of its table's columns. */
export type PortableRow = readonly PortableValue[];

/** A database that is read as it was at one moment, without another writer meanwhile. */
export interface MoveSource {
  /** All rows in the order of `orderedBy`, texts by their bytes; at most `PORTION_ROWS` at a time. */
  readPortions(table: Table): AsyncIterable<readonly PortableRow[]>;
  /** Lets go of the database, which is as it was before. */
  close(): Promise<void>;
}

/** An empty database and a transaction in it, which also reads what it has written; closing undoes it unless committed. */
export interface MoveTarget extends MoveSource {
  insert(table: Table, rows: readonly PortableRow[]): Promise<void>;
  /** Makes all of it durable; numbers that the database counts up go on after those that were carried over. */
  commit(): Promise<void>;
}

/**
 * Carries every row over, reads the target back, and commits only if both sides are equal to the last value.
 * Otherwise, and whenever anything throws, the target is left empty, and the source is never changed.
 */
export async function moveTables(source: MoveSource, target: MoveTarget) {
  const carried = new Map<string, TableContent>();
  for (const table of tables) carried.set(table.name, await carry(table, source, target));
  // All of them only now, when nothing is written any more.
  const compared = [];
  for (const table of tables) {
    const [read, written] = [carried.get(table.name) as TableContent, await contentOf(table, target)];
    const isEqual = read.rows === written.rows && read.digest === written.digest;
    compared.push({ table: table.name, source: read, target: written, isEqual });
  }
  // When a table is not equal, the target is empty again.
  const isMoved = compared.every(({ isEqual }) => isEqual);
  if (isMoved) await target.commit();
  return { tables: compared, isMoved };
}

async function carry(table: Table, source: MoveSource, target: MoveTarget): Promise<TableContent> {
  const content = createContent();
  try {
    for await (const rows of source.readPortions(table)) {
      content.add(rows);
      await target.insert(table, rows);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${table.name} could not be carried over, so nothing was: ${reason}`, { cause: error });
  }
  return content.finish();
}

async function contentOf(table: Table, side: MoveTarget): Promise<TableContent> {
  const content = createContent();
  for await (const rows of side.readPortions(table)) content.add(rows);
  return content.finish();
}

type TableContent = ReturnType<ReturnType<typeof createContent>['finish']>;

/** The number of a table's rows, and the SHA-256, in hex digits, over all values of all rows in their order. */
function createContent() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(rows: readonly PortableRow[]): void {
      count += rows.length;
      // A line each: JSON has no line break of its own, so no two tables have the same text.
      for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    },
    finish: () => ({ rows: count, digest: hash.digest('hex') }),
  };
}

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
