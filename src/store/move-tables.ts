import { createHash } from 'node:crypto';
import type { ColumnKind, Table } from './columns.ts';
import { type FoundSchema, requireCurrentSchema } from './migration.ts';
import { MoveRefusedError } from './store-errors.ts';
import { tables } from './tables.ts';

/** Number of rows in memory at a time. */
export const PORTION_ROWS = 1_000;

/**
 * A value outside of any engine: an amount is decimal text, a list of text the text of a JSON array, and a document its
 * text exactly as it is stored.
 */
type PortableValue = string | number | boolean | Uint8Array | null;

/** The values of a row in the order of its table's columns. */
export type PortableRow = readonly PortableValue[];

/** The side of a move that a database is on. */
export type MoveRole = 'source' | 'target';

/**
 * A database of one engine that nothing else writes to until it is closed. Closing undoes what is not committed, so a
 * source is as it was before.
 */
interface MoveDatabase {
  /** What an operator knows it by. */
  readonly name: string;
  readSchema(): Promise<FoundSchema>;
  createTables(): Promise<void>;
  /** Begins the transaction in which a source is read as it is now, or a target is filled. */
  begin(): Promise<void>;
  hasRows(table: string): Promise<boolean>;
  /**
   * All rows in the order of `orderedBy`, texts by their bytes, as the engine reads them; at most `PORTION_ROWS` at a
   * time.
   */
  read(table: Table): AsyncIterable<readonly (readonly unknown[])[]>;
  insert(table: Table, rows: readonly PortableRow[]): Promise<void>;
  /** Makes all of it durable; numbers that the database counts up go on after those that were carried over. */
  commit(): Promise<void>;
  close(): Promise<void>;
}

/**
 * One side of a move, in the transaction that it is made in. A target without tables gets them.
 *
 * @throws MoveRefusedError when its schema is not this version's, or a target has rows
 * @throws StoreTooNewError when a newer version has written it
 */
export async function openSide(database: MoveDatabase, role: MoveRole): Promise<MoveDatabase> {
  try {
    if ((await database.readSchema()).number === 0) {
      if (role === 'source') throw new MoveRefusedError(`${database.name} has no tables of card-checkout`);
      await database.createTables();
    }
    requireCurrentSchema(await database.readSchema());
    await database.begin();
    if (role === 'target') await requireEmpty(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Nothing is mixed or written twice. */
async function requireEmpty(database: MoveDatabase): Promise<void> {
  const filled: string[] = [];
  for (const { name } of tables) if (await database.hasRows(name)) filled.push(name);
  if (filled.length > 0) {
    throw new MoveRefusedError(
      `${database.name} is not empty (${filled.join(', ')}); a store is moved into an empty database only`,
    );
  }
}

/**
 * Carries every row over, reads the target back, and commits only if both sides are equal to the last value.
 * Otherwise, and whenever anything throws, the target is left empty, and the source is never changed.
 */
export async function moveTables(source: MoveDatabase, target: MoveDatabase) {
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

async function carry(table: Table, source: MoveDatabase, target: MoveDatabase): Promise<TableContent> {
  const content = createContent();
  try {
    for await (const rows of readPortions(table, source)) {
      content.add(rows);
      await target.insert(table, rows);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${table.name} could not be carried over, so nothing was: ${reason}`, { cause: error });
  }
  return content.finish();
}

async function contentOf(table: Table, side: MoveDatabase): Promise<TableContent> {
  const content = createContent();
  for await (const rows of readPortions(table, side)) content.add(rows);
  return content.finish();
}

async function* readPortions(table: Table, side: MoveDatabase): AsyncGenerator<readonly PortableRow[]> {
  const kinds = table.columns.map(({ kind }) => kind);
  for await (const rows of side.read(table))
    yield rows.map((row) => row.map((value, index) => portableOf(value, kinds[index] as ColumnKind)));
}

function portableOf(value: unknown, kind: ColumnKind): PortableValue {
  if (value === null) return null;
  if (kind === 'flag') return flagOf(value);
  // A plain one: the buffers of one engine have another JSON.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  // Without the spaces that an operator may have written by hand.
  if (kind === 'texts') return JSON.stringify(typeof value === 'string' ? JSON.parse(value) : value);
  if (typeof value !== 'bigint') return value as string | number;
  if (!Number.isSafeInteger(Number(value))) throw new Error(`${value} is too large`);
  return Number(value);
}

function flagOf(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (value !== 0 && value !== 1) throw new Error(`${value} is neither 0 nor 1`);
  return value === 1;
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
