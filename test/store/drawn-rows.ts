import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import fc from 'fast-check';
import { tables } from '../../src/app/store/store.ts';
import type { Column, ColumnKind, Table } from '../../src/store/columns.ts';

/** Texts as strangers write them, without the one character that PostgreSQL cannot store. */
const text = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((value) => !value.includes('\0'));
const bit = fc.constantFrom(0, 1);

/** What a column of each kind can hold, as SQLite has it. */
const valuesOf: Readonly<Record<ColumnKind, fc.Arbitrary<SQLInputValue>>> = {
  text,
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  integer: fc.integer({ min: 0, max: 2 ** 45 }),
  real: fc.double({ min: 0, max: 1e6, noNaN: true }),
  units: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  flag: bit,
  bit,
  texts: fc.array(text, { maxLength: 3 }).map((list) => JSON.stringify(list)),
  json: fc.dictionary(text, text, { maxKeys: 3 }).map((fields) => JSON.stringify(fields)),
};

/** A row that refers to nothing yet, and which of its columns are empty where they may be. */
interface DrawnRow {
  readonly values: Readonly<Record<string, SQLInputValue>>;
  readonly empty: readonly string[];
}
export type DrawnRows = Readonly<Record<string, readonly DrawnRow[]>>;

const drawnRow = ({ columns }: Table): fc.Arbitrary<DrawnRow> =>
  fc.record({
    values: fc.record(Object.fromEntries(columns.map(({ name, kind }) => [name, valuesOf[kind]]))),
    empty: fc.subarray(columns.map(({ name }) => name)),
  });
export const drawnRows: fc.Arbitrary<DrawnRows> = fc.record(
  Object.fromEntries(
    tables.map((table) => [table.name, fc.array(drawnRow(table), { minLength: 1, maxLength: 4 })]),
  ),
);

/** Inserts the rows with references to rows that are there. What a key or a check does not take is left out. */
export function insertDrawn(database: DatabaseSync, drawn: DrawnRows): void {
  for (const table of tables) {
    const optional = database.prepare(
      `SELECT name FROM pragma_table_info('${table.name}') WHERE "notnull" = 0`,
    );
    const mayBeEmpty = new Set(optional.all().map(({ name }) => name));
    const references = database.prepare(`PRAGMA foreign_key_list(${table.name})`).all();
    for (const { values, empty } of drawn[table.name] ?? []) {
      const row: Record<string, SQLInputValue> = { ...values };
      for (const name of empty) if (mayBeEmpty.has(name) && name !== table.numberedBy) row[name] = null;
      for (const { from, table: parent, to } of references)
        row[String(from)] = database.prepare(`SELECT ${to} AS key FROM ${parent} LIMIT 1`).get()?.key ?? null;
      if (table.name === 'journal')
        row['number'] = Number(database.prepare('SELECT count(*) AS count FROM journal').get()?.count) + 1;
      const names = Object.keys(row);
      database
        .prepare(`INSERT OR IGNORE INTO ${table.name} (${names}) VALUES (${names.map(() => '?')})`)
        .run(...Object.values(row));
    }
  }
}

/** A stored value, the same of both engines. */
export function comparable({ kind }: Column, value: unknown): unknown {
  if (value === null) return null;
  if (kind === 'flag') return Boolean(value);
  if (kind === 'texts' || kind === 'json') return typeof value === 'string' ? JSON.parse(value) : value;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
}
