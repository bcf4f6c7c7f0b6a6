import type { PaymentId } from '../payment/payment.ts';
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

/** Store code for all engines: a generator that yields steps and receives their rows, within one transaction. */
export type Script<T> = Generator<Step, T, Rows>;

/**
 * Statement with numbered parameters (`?1`), in SQL that all engines support or translate. It compares lists with
 * `= ANY(?1)` and `<> ALL(?1)`, and lists of bytes with `= ANY(?1::bytea[])`, where each item is `\x` and hex digits.
 */
export interface Statement {
  readonly sql: string;
  readonly values: readonly ColumnValue[];
}

/** Named lock until the end of the transaction. It does nothing on an engine that runs one script at a time. */
interface Lock {
  readonly lock: string;
}

/** Rows to insert: values of all columns except the auto-increment column, in order. */
interface Insert {
  readonly into: Table;
  readonly rows: readonly (readonly ColumnValue[])[];
  readonly keepsExisting: boolean;
}

/** Payments to lock until the end of the transaction, before a decision or a write reads them. Returns no rows. */
interface PaymentLock {
  readonly lockPayments: readonly PaymentId[];
}

export type Step = Statement | Lock | Insert | PaymentLock;

export type Rows = readonly Row[];

type Method = <Given extends readonly unknown[], T>(
  script: (...given: Given) => Script<T>,
) => (...given: Given) => Promise<T>;

export interface Scripts {
  /** Makes a read-only method, which takes no locks. */
  readonly read: Method;
  /** Makes a method that may run again from the beginning after a conflict with another transaction. */
  readonly write: Method;
}

/** Part of a statement: template texts, and the values or fragments to insert between the texts. */
export interface Fragment {
  readonly texts: readonly string[];
  readonly insertions: readonly Insertion[];
}

export type Insertion = ColumnValue | Fragment;

export function sql(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Fragment {
  return { texts, insertions };
}

/** Returns constant SQL, such as column names, to insert unchanged. Must never receive user input. */
export function raw(text: string | number): Fragment {
  return { texts: [String(text)], insertions: [] };
}

/** Builds a statement from a template. Insertions become parameters; a fragment is inlined with its own parameters. */
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

export function* run(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Rows> {
  return yield statementOf(texts, insertions);
}

export function* runForOne<Found>(
  texts: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Script<Found | null> {
  const [row] = yield statementOf(texts, insertions);
  return row === undefined ? null : ({ ...row } as Found);
}

export function* hasRow(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<boolean> {
  return (yield statementOf(texts, insertions)).length > 0;
}

/** Counts rows. The template is what follows `SELECT count(*) FROM`. */
export function* countOf(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<number> {
  const { sql: from, values } = statementOf(texts, insertions);
  const [row] = yield { sql: `SELECT count(*) AS count FROM ${from}`, values };
  return Number(row?.['count']);
}

export interface StoredTable<Entity = unknown> extends Table<Entity> {
  /** Reads entities. The template is the statement from `FROM` on. */
  selectFrom(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]>;
  /** Reads entities. The template is what follows `SELECT … FROM table`. */
  select(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]>;
  selectOne(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity | null>;
  /** Inserts an entity; `rest` may hold `ON CONFLICT` and `RETURNING`. */
  insert(entity: Entity, rest?: string): Script<Rows>;
  /** Writes all fields of an entity by its id, the first field. */
  update(entity: Entity): Script<void>;
  insertRows(rows: Insert['rows'], options?: Partial<Pick<Insert, 'keepsExisting'>>): Script<void>;
}

/**
 * Returns a function that describes tables and adds them to `list`. A field without a column, or a column without a
 * field, is a compile error.
 */
export function tablesIn(list: Table[]) {
  return <Entity>(name: string, orderedBy: readonly string[]) =>
    <const Given extends FieldsByKind<Entity>>(
      fields: AllFields<Entity, Given>,
      options: TableOptions<Entity> = {},
    ): StoredTable<Entity> => {
      const names = fields as object as Record<string, readonly string[]>;
      const stored = withScripts(describeTable<Entity>(name, orderedBy, names, options));
      list.push(stored);
      return stored;
    };
}

function withScripts<Entity>(described: Table<Entity>): StoredTable<Entity> {
  const { name, columns, insertSql, valuesOf } = described;
  const assignments = columns
    .filter(({ field }) => field !== null)
    .map((column, index) => `${column.name} = ?${index + 1}`);
  const updateSql = `UPDATE ${name} SET ${assignments.slice(1).join(', ')} WHERE id = ?1`;
  function* selectFrom(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]> {
    const rows = yield* run`SELECT ${raw(described.qualifiedNames)} ${sql(texts, ...insertions)}`;
    return rows.map(described.ofRow);
  }
  function select(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity[]> {
    return selectFrom`FROM ${raw(name)} ${sql(texts, ...insertions)}`;
  }
  return {
    ...described,
    selectFrom,
    select,
    *selectOne(texts, ...insertions) {
      const [entity] = yield* select(texts, ...insertions);
      return entity ?? null;
    },
    *insert(entity, rest = '') {
      return yield { sql: `${insertSql} ${rest}`, values: valuesOf(entity) };
    },
    *update(entity) {
      yield { sql: updateSql, values: valuesOf(entity) };
    },
    *insertRows(rows, { keepsExisting = false } = {}) {
      if (rows.length > 0) yield { into: described, rows, keepsExisting };
    },
  };
}

export function insertedColumns({ columns, numberedBy }: Table): Column[] {
  return columns.filter(({ name }) => name !== numberedBy);
}

/** Locks payments in id order. */
export function* lockPayments(ids: readonly PaymentId[]): Script<void> {
  if (ids.length > 0) yield { lockPayments: ids };
}

export function* lock(name: string): Script<void> {
  yield { lock: name };
}
