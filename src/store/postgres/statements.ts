import { hash } from 'node:crypto';
import type { ColumnKind, Table } from '../columns.ts';

/** A statement that every connection prepares once, at its first use. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Rows come as arrays, in the order of their columns: with many columns that takes half the time of objects. */
  readonly rowMode?: 'array';
}

/** Named by its text, so that no two statements can have the same name. */
export function statement(text: string): Statement {
  return { name: hash('sha1', text), text };
}

/** The same, with rows as arrays. */
export function arrayStatement(text: string): Statement {
  return { ...statement(text), rowMode: 'array' };
}

/** What a list may hold. */
type ArrayElement = string | number | bigint | boolean | Uint8Array | null;

const special = /["\\]/;

/**
 * A list as PostgreSQL reads it: `{"a","b",NULL,12}`. The driver would write it as well, but it escapes every element
 * with two replacements whatever it is: 43 µs for a payment of 35 columns in a group of 32, this takes 2.
 *
 * @throws TypeError for anything else than an element, which must never become text by accident
 */
export function arrayLiteral(elements: readonly unknown[]): string {
  let literal = '{';
  for (let index = 0; index < elements.length; index++) {
    if (index > 0) literal += ',';
    literal += elementText(elements[index] as ArrayElement);
  }
  return `${literal}}`;
}

function elementText(element: ArrayElement): string {
  switch (typeof element) {
    case 'string':
      return special.test(element) ? `"${element.replaceAll(/["\\]/g, '\\$&')}"` : `"${element}"`;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(element);
    default:
      if (element === null) return 'NULL';
      if (element instanceof Uint8Array) return `"\\\\x${Buffer.from(element).toString('hex')}"`;
      throw new TypeError(`a list for PostgreSQL must not hold a ${typeof element}`);
  }
}

/** A column's name and PostgreSQL type. */
export type TypedColumn = readonly [name: string, type: string];

/** The types of parameters for columns; an INSERT converts them to the column's own. */
export const postgresTypes: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  address: 'bytea',
  integer: 'bigint',
  real: 'double precision',
  units: 'bigint',
  amount: 'numeric',
  flag: 'boolean',
  bit: 'bigint',
  // Arrays of arrays would be taken apart down to their elements.
  texts: 'json',
  json: 'json',
};

/** The columns of a table's fields, for `valuesOf`. */
export function fieldColumns({ columns }: Table): TypedColumn[] {
  return columns.filter(({ field }) => field !== null).map(({ name, kind }) => [name, postgresTypes[kind]]);
}

export function namesOf(columns: readonly TypedColumn[]): string {
  return columns.map(([name]) => name).join(', ');
}

/**
 * Any number of rows as one parameter a column, so that one prepared statement takes them all:
 * `unnest($1::text[], $2::bigint[]) AS alias (id, amount)`.
 */
export function unnest(alias: string, columns: readonly TypedColumn[]): string {
  const parameters = columns.map(([, type], index) => `$${index + 1}::${type}[]`);
  return `unnest(${parameters.join(', ')}) AS ${alias} (${namesOf(columns)})`;
}

/** The parameters for `unnest`: the rows' values by column. */
export function valuesByColumn(
  columns: readonly TypedColumn[],
  rows: readonly (readonly unknown[])[],
): string[] {
  return columns.map((_, column) => arrayLiteral(rows.map((row) => row[column])));
}
