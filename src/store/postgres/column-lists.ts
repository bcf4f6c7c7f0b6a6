import { arrayLiteral } from './array-literal.ts';

/** A column's name and PostgreSQL type. */
export type Column = readonly [name: string, type: string];

export function namesOf(columns: readonly Column[]): string {
  return columns.map(([name]) => name).join(', ');
}

/**
 * Any number of rows as one parameter a column, so that one prepared statement takes them all:
 * `unnest($1::text[], $2::bigint[]) AS alias (id, amount)`.
 */
export function unnest(alias: string, columns: readonly Column[]): string {
  const parameters = columns.map(([, type], index) => `$${index + 1}::${type}[]`);
  return `unnest(${parameters.join(', ')}) AS ${alias} (${namesOf(columns)})`;
}

/** The parameters for `unnest`: the rows' values by column. */
export function valuesByColumn(columns: readonly Column[], rows: readonly (readonly unknown[])[]): string[] {
  return columns.map((_, column) => arrayLiteral(rows.map((row) => row[column])));
}
