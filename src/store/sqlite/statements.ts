import type { SQLInputValue } from 'node:sqlite';
import type { ColumnValue } from '../columns.ts';

/** Values as SQLite stores them: booleans as 0 and 1, lists as JSON. */
export function storedValues(values: readonly ColumnValue[]): SQLInputValue[] {
  return values.map(storedValue);
}

function storedValue(value: ColumnValue): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue);
}
