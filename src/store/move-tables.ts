import { createHash } from 'node:crypto';
import type { Column, ColumnKind, Table } from './columns.ts';
import { type FoundSchema, type Layout, requireOwnSchema } from './migration.ts';
import { MoveRefusedError } from './store-errors.ts';

/** Maximum number of rows in memory at a time. */
export const PORTION_ROWS = 1_000;

/** Engine-independent value. Amounts are decimal text, lists are JSON, and documents are their stored text. */
type PortableValue = string | number | boolean | Uint8Array | null;

/** Values of a row in the order of the table's columns. */
export type PortableRow = readonly PortableValue[];

export type MoveRole = 'source' | 'target';

/** Locked database on one side of a move. Closing rolls back an open transaction. */
export interface MoveDatabase {
  readonly name: string;
  readSchema(): Promise<FoundSchema>;
  createTables(): Promise<void>;
  /** Begins the transaction that reads a snapshot of the source or fills the target. */
  begin(): Promise<void>;
  countRows(table: string): Promise<number>;
  /** Reads all rows in the order of `orderedBy`, with text sorted by its bytes, at most `PORTION_ROWS` at a time. */
  read(table: Table): AsyncIterable<readonly (readonly unknown[])[]>;
  insert(table: Table, rows: readonly PortableRow[]): Promise<void>;
  /** Commits. Auto-increment columns then continue after the moved numbers. */
  commit(): Promise<void>;
  close(): Promise<void>;
}

export interface SideOptions extends Layout {
  /** Called before an empty target gets its tables. */
  readonly onCreate?: ((schema: FoundSchema) => void) | undefined;
}

/** Prepares a side and creates the tables of an empty target. Throws for an unsuitable database or schema. */
export async function openSide(
  database: MoveDatabase,
  role: MoveRole,
  { tables, onCreate }: SideOptions,
): Promise<MoveDatabase> {
  try {
    const found = await database.readSchema();
    if (found.number === 0) {
      if (role === 'source') throw new MoveRefusedError(`${database.name} has no tables of card-checkout`);
      onCreate?.(found);
      await database.createTables();
    }
    requireOwnSchema(await database.readSchema());
    await database.begin();
    if (role === 'target') await requireEmpty(database, tables);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Refuses a target with rows, because a move must not mix or duplicate data. */
async function requireEmpty(database: MoveDatabase, tables: Layout['tables']): Promise<void> {
  const filled: string[] = [];
  for (const { name } of tables) if ((await database.countRows(name)) > 0) filled.push(name);
  if (filled.length > 0) {
    throw new MoveRefusedError(
      `${database.name} is not empty (${filled.join(', ')}); a store is moved into an empty database only`,
    );
  }
}

/** Output of `move-store --json`. */
export type StoreMove = Awaited<ReturnType<typeof moveTables>>;

/** Copies all rows, reads them back, and commits only if both sides are equal. Never changes the source. */
export async function moveTables(source: MoveDatabase, target: MoveDatabase, tables: Layout['tables']) {
  const carried = new Map<string, TableContent>();
  for (const table of tables) carried.set(table.name, await carry(table, source, target));
  // Reads back only after all inserts, so that no later write can affect a compared table.
  const compared = [];
  for (const table of tables) {
    const [read, written] = [carried.get(table.name) as TableContent, await contentOf(table, target)];
    compared.push({
      table: table.name,
      source_rows: read.rows,
      target_rows: written.rows,
      source_digest: read.digest,
      target_digest: written.digest,
      equal: read.rows === written.rows && read.digest === written.digest,
    });
  }
  const moved = compared.every(({ equal }) => equal);
  if (moved) await target.commit();
  return { moved, tables: compared };
}

async function carry(table: Table, source: MoveDatabase, target: MoveDatabase): Promise<TableContent> {
  try {
    return await contentOf(table, source, (rows) => target.insert(table, rows));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${table.name} could not be carried over, so nothing was: ${reason}`, { cause: error });
  }
}

type TableContent = Awaited<ReturnType<typeof contentOf>>;

/** Counts a table's rows and hashes all their values in order (SHA-256, hex). */
async function contentOf(
  table: Table,
  side: MoveDatabase,
  take: (rows: readonly PortableRow[]) => Promise<void> = async () => {},
) {
  const hash = createHash('sha256');
  let count = 0;
  for await (const portion of side.read(table)) {
    const rows = portion.map((row) =>
      row.map((value, index) => portableOf(value, (table.columns[index] as Column).kind)),
    );
    count += rows.length;
    // Hashes one line per row. JSON text contains no line breaks, so different rows never give the same text.
    for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    await take(rows);
  }
  return { rows: count, digest: hash.digest('hex') };
}

function portableOf(value: unknown, kind: ColumnKind): PortableValue {
  if (value === null) return null;
  if (kind === 'flag') return flagOf(value);
  // Copies to a plain `Uint8Array`, because a `Buffer` has another JSON form.
  if (value instanceof Uint8Array) return new Uint8Array(value);
  // Normalizes the JSON of lists, which an operator may have edited by hand.
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
