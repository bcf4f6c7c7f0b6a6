import type { Payment, PaymentId } from '../payment/payment.ts';
import {
  type AllFields,
  type Column,
  type ColumnValue,
  describeTable,
  type FieldsByKind,
  type Row,
  type Table,
  type TableOptions,
} from './columns.ts';

/**
 * What a store does where it is not hot, written once for all engines: a generator that asks for one step after the
 * other and is given its rows. Where the engine runs it is a transaction, of which all or nothing takes effect.
 */
export type Script<T> = Generator<Step, T, Rows>;

/**
 * A statement with numbered parameters (`?1`), in the SQL that all engines have in common. A list is compared
 * with `= ANY(?1)` and `<> ALL(?1)`.
 */
interface Statement {
  readonly sql: string;
  readonly values: readonly ColumnValue[];
}

/** Makes others that ask for the same name wait until this script is done, where more than one can run at a time. */
interface Lock {
  readonly lock: string;
}

/** Rows to insert: the values of all columns of the table but the one that the database counts up, in their order. */
interface Insert {
  readonly into: Table;
  readonly rows: readonly (readonly ColumnValue[])[];
  /** Whether a row whose key is there already is left out. */
  readonly keepsExisting: boolean;
}

/** Payments to lock until the script is done, before they are read to be decided or written; has no rows. */
interface PaymentLock {
  readonly lockPayments: readonly PaymentId[];
}

/** Payments of which all columns that change are written. */
interface Update {
  readonly update: readonly Payment[];
}

export type Step = Statement | Lock | Insert | PaymentLock | Update;

export type Rows = readonly Row[];

type Method = <Given extends readonly unknown[], T>(
  script: (...given: Given) => Script<T>,
) => (...given: Given) => Promise<T>;

/** Makes methods of scripts on an engine. */
export interface Scripts {
  /** A script that only reads. It takes no locks. */
  readonly read: Method;
  /** It may run again from its beginning when it meets another transaction. */
  readonly write: Method;
  /** A script of one statement, which is a transaction by itself: begin and commit would be two more round trips. */
  readonly writeStatement: Method;
}

/** A part of a statement: a template with its parameters. */
export interface Fragment {
  readonly texts: readonly string[];
  readonly insertions: readonly Insertion[];
}

export type Insertion = ColumnValue | Fragment;

/** A part of a statement, for insertion into a template. */
export function sql(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Fragment {
  return { texts, insertions };
}

/** SQL of this code that is inserted as it is: names of columns, a bound. Never what a caller sent. */
export function raw(text: string | number): Fragment {
  return { texts: [String(text)], insertions: [] };
}

/** Parameters with commas between them. */
export function list(values: readonly ColumnValue[]): Fragment {
  return { texts: values.map((_, index) => (index === 0 ? '' : ', ')).concat(''), insertions: values };
}

/** The statement of a template: each insertion is a parameter, but for fragments, which bring their own. */
function statementOf(texts: readonly string[], insertions: readonly Insertion[]): Statement {
  const values: ColumnValue[] = [];
  const textOf = (part: Fragment): string =>
    part.texts.reduce((text, next, index) => {
      const insertion = part.insertions[index - 1] as Insertion;
      return `${text}${isFragment(insertion) ? textOf(insertion) : `?${values.push(insertion)}`}${next}`;
    });
  return { sql: textOf({ texts, insertions }).trim(), values };
}

function isFragment(insertion: Insertion): insertion is Fragment {
  return typeof insertion === 'object' && insertion !== null && 'texts' in insertion;
}

/** Asks for one statement. */
export function* run(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Rows> {
  return yield statementOf(texts, insertions);
}

/** The same, of a text with numbered parameters. */
export function* runText(sql: string, values: readonly ColumnValue[]): Script<Rows> {
  return yield { sql, values };
}

/** Asks for one statement that has one row at most. */
export function* runForOne<Found>(
  texts: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Script<Found | null> {
  const [row] = yield statementOf(texts, insertions);
  return row === undefined ? null : ({ ...row } as Found);
}

/** Asks for one statement, and answers whether it has a row. */
export function* hasRow(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<boolean> {
  return (yield statementOf(texts, insertions)).length > 0;
}

/** Counts rows: `SELECT count(*) FROM` and the rest of the statement. */
export function* countOf(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<number> {
  const { sql: from, values } = statementOf(texts, insertions);
  const [row] = yield { sql: `SELECT count(*) AS count FROM ${from}`, values };
  return Number(row?.['count']);
}

/** A table with scripts that read and write its rows. */
export interface StoredTable<Entity = unknown> extends Table<Entity> {
  /** Reads entities: `SELECT … FROM table` and the rest of the statement. */
  select(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]>;
  /** Reads one entity at most. */
  selectOne(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity | null>;
  /** Inserts an entity. The rest may be an `ON CONFLICT` and a `RETURNING`. */
  insert(entity: Entity, rest?: string): Script<Rows>;
  /** Writes all fields of an entity, by its id, which is the first of them. */
  update(entity: Entity): Script<void>;
  /** Inserts rows: the values of all columns but the one that the database counts up, in their order. */
  insertRows(rows: Insert['rows'], options?: Partial<Pick<Insert, 'keepsExisting'>>): Script<void>;
}

/** Describes tables with the scripts of their rows; they are added to the list. */
export function tablesIn(list: Table[]) {
  return <Entity>(name: string, orderedBy: readonly string[]) =>
    <const Given extends FieldsByKind<Entity>>(
      fields: AllFields<Entity, Given>,
      options?: TableOptions<Entity>,
    ): StoredTable<Entity> => {
      const stored = withScripts(describeTable<Entity>(name, orderedBy)(fields, options));
      list.push(stored);
      return stored;
    };
}

function withScripts<Entity>(described: Table<Entity>): StoredTable<Entity> {
  const { name, columns, qualifiedNames, insertSql, valuesOf } = described;
  const assignments = columns
    .filter(({ field }) => field !== null)
    .map((column, index) => `${column.name} = ?${index + 1}`);
  const updateSql = `UPDATE ${name} SET ${assignments.slice(1).join(', ')} WHERE id = ?1`;
  function* select(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]> {
    const rest = statementOf(texts, insertions);
    const rows = yield { ...rest, sql: `SELECT ${qualifiedNames} FROM ${name} ${rest.sql}` };
    return rows.map(described.ofRow);
  }
  return {
    ...described,
    select,
    *selectOne(texts, ...insertions) {
      const [entity] = yield* select(texts, ...insertions);
      return entity ?? null;
    },
    insert: (entity, rest = '') => runText(`${insertSql} ${rest}`, valuesOf(entity)),
    *update(entity) {
      yield* runText(updateSql, valuesOf(entity));
    },
    *insertRows(rows, { keepsExisting = false } = {}) {
      if (rows.length > 0) yield { into: described, rows, keepsExisting };
    },
  };
}

/** The columns of `insertRows`. */
export function insertedColumns({ columns, numberedBy }: Table): Column[] {
  return columns.filter(({ name }) => name !== numberedBy);
}

/** Locks payments in the order of their ids. */
export function* lockPayments(ids: readonly PaymentId[]): Script<void> {
  if (ids.length > 0) yield { lockPayments: ids };
}

/** Waits for others. */
export function* lock(name: string): Script<void> {
  yield { lock: name };
}

/** The most rows one call may ask for. */
const MAXIMUM_LIST_LENGTH = 10_000;

/**
 * The `limit` of a list. @throws RangeError unless it is a whole number from 1 to 10,000: it is not cut down silently,
 * because a caller takes a list that is shorter than its limit for the last one
 */
export function checkedLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAXIMUM_LIST_LENGTH) {
    throw new RangeError(`a list's limit must be from 1 to ${MAXIMUM_LIST_LENGTH}, not ${limit}`);
  }
  return limit;
}
