import { hash } from 'node:crypto';
import type { Column } from '../columns.ts';
import { types } from '../schema.ts';

/** Statement that each connection prepares when first used. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Creates a statement named by a hash of its text, so that different statements never share a name. */
export function statement(text: string): Statement {
  return { name: hash('sha1', text), text };
}

export type TypedColumn = readonly [name: string, type: string];

/** Parameter types: as for columns, but text without a collation, and lists as JSON, because unnest flattens arrays. */
const parameterTypes = { ...types.PostgreSQL, text: 'text', texts: 'json' };

export function typedColumn({ name, kind }: Column): TypedColumn {
  return [name, parameterTypes[kind]];
}

export function namesOf(columns: readonly TypedColumn[]): string {
  return columns.map(([name]) => name).join(', ');
}

/** Returns SQL for rows, with one parameter per column: `unnest($1::text[], $2::bigint[]) AS alias (id, amount)`. */
export function unnest(alias: string, columns: readonly TypedColumn[]): string {
  const parameters = columns.map(([, type], index) => `$${index + 1}::${type}[]`);
  return `unnest(${parameters.join(', ')}) AS ${alias} (${namesOf(columns)})`;
}

export function valuesByColumn(
  columns: readonly TypedColumn[],
  rows: readonly (readonly unknown[])[],
): unknown[][] {
  return columns.map((_, column) => rows.map((row) => row[column]));
}
