import { hash } from 'node:crypto';

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
