import { bytesOfAddress, checksumAddressBytes } from '../payment/address.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { StoreClosedError, StoreOverloadedError } from './store-errors.ts';

/**
 * Store code outside hot paths, written once for all engines: a generator that yields steps and receives their rows. An
 * engine runs it as one transaction.
 */
export type Script<T> = Generator<Step, T, Rows>;

/**
 * Statement with numbered parameters (`?1`), in the SQL common to all engines. Lists are compared with `= ANY(?1)` and
 * `<> ALL(?1)`.
 */
interface Statement {
  readonly sql: string;
  readonly values: readonly ColumnValue[];
}

/** Blocks other scripts that request the same name until this one is done, if several can run at a time. */
interface Lock {
  readonly lock: string;
}

/** Rows to insert: values of all columns except the one that the database counts up, in order. */
interface Insert {
  readonly into: Table;
  readonly rows: readonly (readonly ColumnValue[])[];
  /** Whether a row with an existing key is skipped. */
  readonly keepsExisting: boolean;
}

/** Payments to lock until the script is done, before they are read for a decision or a write. Has no rows. */
interface PaymentLock {
  readonly lockPayments: readonly PaymentId[];
}

/** Payments whose changing columns are all written. */
interface Update {
  readonly update: readonly Payment[];
}

export type Step = Statement | Lock | Insert | PaymentLock | Update;

export type Rows = readonly Row[];

type Method = <Given extends readonly unknown[], T>(
  script: (...given: Given) => Script<T>,
) => (...given: Given) => Promise<T>;

/** Turns scripts into methods on an engine. */
export interface Scripts {
  /** Read-only; takes no locks. */
  readonly read: Method;
  /** May run again from the beginning after a conflict with another transaction. */
  readonly write: Method;
  /** Single statement, without begin and commit, which would be two more round trips. */
  readonly writeStatement: Method;
}

/** Part of a statement: a template with its parameters. */
export interface Fragment {
  readonly texts: readonly string[];
  readonly insertions: readonly Insertion[];
}

export type Insertion = ColumnValue | Fragment;

/** Fragment to insert into a template. */
export function sql(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Fragment {
  return { texts, insertions };
}

/** Constant SQL, such as column names, inserted unchanged. Never for a caller's input. */
export function raw(text: string | number): Fragment {
  return { texts: [String(text)], insertions: [] };
}

export function list(values: readonly ColumnValue[]): Fragment {
  return { texts: values.map((_, index) => (index === 0 ? '' : ', ')).concat(''), insertions: values };
}

/** Statement of a template: each insertion becomes a parameter, except fragments, which bring their own. */
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

/** Runs a statement given as text with numbered parameters. */
export function* runText(sql: string, values: readonly ColumnValue[]): Script<Rows> {
  return yield { sql, values };
}

/** Runs a statement with at most one row. */
export function* runForOne<Found>(
  texts: TemplateStringsArray,
  ...insertions: readonly Insertion[]
): Script<Found | null> {
  const [row] = yield statementOf(texts, insertions);
  return row === undefined ? null : ({ ...row } as Found);
}

/** Runs a statement and returns whether it has a row. */
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
  /** Reads at most one entity. */
  selectOne(texts: TemplateStringsArray, ...insertions: readonly Insertion[]): Script<Entity | null>;
  /** Inserts an entity; `rest` may hold `ON CONFLICT` and `RETURNING`. */
  insert(entity: Entity, rest?: string): Script<Rows>;
  /** Writes all fields of an entity by its id, its first field. */
  update(entity: Entity): Script<void>;
  /** Inserts rows: values of all columns except the one that the database counts up, in order. */
  insertRows(rows: Insert['rows'], options?: Partial<Pick<Insert, 'keepsExisting'>>): Script<void>;
}

/** Returns a function that describes tables with scripts and adds them to the list. */
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

export function insertedColumns({ columns, numberedBy }: Table): Column[] {
  return columns.filter(({ name }) => name !== numberedBy);
}

/** Locks payments in id order. */
export function* lockPayments(ids: readonly PaymentId[]): Script<void> {
  if (ids.length > 0) yield { lockPayments: ids };
}

/** Takes a named lock until the script is done. */
export function* lock(name: string): Script<void> {
  yield { lock: name };
}

/** Maximum rows per call. */
const MAXIMUM_LIST_LENGTH = 10_000;

/**
 * `limit` of a list.
 * @throws RangeError unless it is a whole number from 1 to 10,000: a silent cut would make a caller take a page for the
 * last one
 */
export function checkedLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAXIMUM_LIST_LENGTH) {
    throw new RangeError(`a list's limit must be from 1 to ${MAXIMUM_LIST_LENGTH}, not ${limit}`);
  }
  return limit;
}

// Table descriptions for both engines: column lists, inserts, mappers and the move between engines derive from them.

/**
 * How a column stores its values.
 *
 * - `units`: one of our own amounts, a bigint in the program and an integer in the database
 * - `amount`: an amount of any size from the chain or a provider, as decimal text or numeric
 * - `bit`: a flag that both engines store as 0 or 1
 * - `flag`: a boolean where the engine has one
 * - `texts`: a list of text
 * - `json`: a document
 * - `address`: the twenty bytes of an address that is looked up
 */
export type ColumnKind =
  | 'text'
  | 'address'
  | 'integer'
  | 'real'
  | 'units'
  | 'amount'
  | 'flag'
  | 'bit'
  | 'texts'
  | 'json';

export interface Column {
  readonly name: string;
  /** Field of the entity; null for a column that only specific statements read. */
  readonly field: string | null;
  readonly kind: ColumnKind;
}

/** Statement parameter; each engine stores booleans and lists in its own way. */
export type ColumnValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | Uint8Array;

/** Row of either engine, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Kinds that can hold a field. */
type KindOf<Value> = [Value] extends [bigint | null]
  ? 'units' | 'amount'
  : [Value] extends [boolean | null]
    ? 'flag' | 'bit'
    : [Value] extends [string | null]
      ? 'text' | 'address'
      : [Value] extends [number | null]
        ? 'integer' | 'real'
        : [Value] extends [readonly string[] | null]
          ? 'texts'
          : 'json';

type FieldOf<Entity, Kind> = {
  [Field in keyof Entity]-?: Kind extends KindOf<Entity[Field]> ? Field & string : never;
}[keyof Entity];

/** Fields of an entity by column kind, in column order. */
export type FieldsByKind<Entity> = { readonly [Kind in ColumnKind]?: readonly FieldOf<Entity, Kind>[] };

/** Compile error if a field of the entity is in no list. */
export type AllFields<Entity, Given extends FieldsByKind<Entity>> = [
  Exclude<keyof Entity, NonNullable<Given[keyof Given & ColumnKind]>[number]>,
] extends [never]
  ? Given
  : {
      readonly 'fields without a column': Exclude<
        keyof Entity,
        NonNullable<Given[keyof Given & ColumnKind]>[number]
      >;
    };

export interface TableOptions<Entity> {
  /** Columns not named after their fields. */
  readonly renamed?: { readonly [Field in keyof Entity]?: string };
  /** Columns without a field. */
  readonly others?: Readonly<Record<string, ColumnKind>>;
  /** Column that the database counts up. */
  readonly numberedBy?: string;
}

export interface Table<Entity = unknown> {
  readonly name: string;
  /** Columns of the fields first, in their order. */
  readonly columns: readonly Column[];
  /** Unique key, by which rows are read in order. */
  readonly orderedBy: readonly string[];
  readonly numberedBy: string | null;
  /** Names of the fields' columns, for `SELECT` and `INSERT`. */
  readonly names: string;
  /** The same names, qualified with the table. */
  readonly qualifiedNames: string;
  /** `INSERT INTO … VALUES (?1, …)` for `valuesOf`. */
  readonly insertSql: string;
  /** Entity of the values of the fields' columns, in their order. */
  ofValues(values: readonly unknown[]): Entity;
  ofRow(row: Row): Entity;
  /** Values of the fields' columns, in their order. */
  valuesOf(entity: Entity): ColumnValue[];
}

/** Describes a table. A field without a column, or a column without a field, is a compile error. */
export function describeTable<Entity>(name: string, orderedBy: readonly string[]) {
  return <const Given extends FieldsByKind<Entity>>(
    fields: AllFields<Entity, Given>,
    { renamed = {}, others = {}, numberedBy }: TableOptions<Entity> = {},
  ): Table<Entity> => {
    const entity = Object.entries<readonly string[]>(
      fields as object as Record<string, readonly string[]>,
    ).flatMap(([kind, listed]) =>
      listed.map((field): Column => {
        const column = (renamed as Record<string, string>)[field] ?? snakeCaseOf(field);
        return { name: column, field, kind: kind as ColumnKind };
      }),
    );
    const names = entity.map((column) => column.name);
    const columns = [
      ...entity,
      ...Object.entries(others).map(([other, kind]): Column => ({ name: other, field: null, kind })),
    ];
    const ofValues = createReader<Entity>(entity);
    return {
      name,
      columns,
      orderedBy,
      numberedBy: numberedBy ?? null,
      names: names.join(', '),
      qualifiedNames: names.map((column) => `${name}.${column}`).join(', '),
      insertSql: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${placesOf(names.length)})`,
      ofValues,
      ofRow: (row) => ofValues(names.map((column) => row[column])),
      valuesOf: createWriter<Entity>(entity),
    };
  };
}

export function snakeCaseOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `?1, ?2, …` */
export function placesOf(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `?${first + index}`).join(', ');
}

interface Conversion {
  readonly read: (value: unknown) => unknown;
  /** Absent if values are stored unchanged. */
  readonly write?: (value: never) => ColumnValue;
}

/** Kinds without a conversion store values unchanged. */
const conversions: Partial<Record<ColumnKind, Conversion>> = {
  units: { read: (value) => (value === null ? null : BigInt(value as string | number)), write: Number },
  amount: { read: (value) => readAmount(value as string | null), write: writeAmount },
  flag: { read: (value) => (value === null ? null : value === 1 || value === true) },
  bit: { read: (value) => value === 1, write: Number },
  address: { read: (value) => checksumAddressBytes(value as Uint8Array), write: bytesOfAddress },
  texts: { read: textsOf },
  json: { read: documentOf, write: JSON.stringify },
};

function createReader<Entity>(columns: readonly Column[]): (values: readonly unknown[]) => Entity {
  const fields = columns.map(({ field, kind }) => [field as string, conversions[kind]?.read] as const);
  // Copied, so that all entities have one shape from the start: without it they take half as long again to make.
  const blank: Record<string, unknown> = Object.fromEntries(fields.map(([field]) => [field, null]));
  return (values) => {
    const entity = { ...blank };
    for (const [index, [field, read]] of fields.entries())
      entity[field] = read === undefined ? values[index] : read(values[index]);
    return entity as Entity;
  };
}

function createWriter<Entity>(columns: readonly Column[]): (entity: Entity) => ColumnValue[] {
  const fields = columns.map(({ field, kind }) => [field as keyof Entity, conversions[kind]?.write] as const);
  return (entity) =>
    fields.map(([field, write]) => {
      const value = entity[field];
      return value === null || write === undefined ? (value as ColumnValue) : write(value as never);
    });
}

/** PostgreSQL's numeric(78): any 256-bit number, and the sum of eight. */
const MAXIMUM_AMOUNT = 10n ** 78n - 1n;

function writeAmount(amount: bigint): string {
  return String(amount > MAXIMUM_AMOUNT ? MAXIMUM_AMOUNT : amount);
}

/**
 * Reads a stored amount. An unreadable one counts as zero, so that only its own payment no longer adds up, which
 * `verify` reports.
 */
function readAmount(value: string | null): bigint | null {
  if (value === null) return null;
  return /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}

/**
 * Reads a list of text: JSON in SQLite, an array in PostgreSQL. An unreadable list is empty, so that it grants nothing.
 */
export function textsOf(value: unknown): readonly string[] {
  const list = typeof value === 'string' ? parsed(value) : value;
  return list === null || Array.isArray(list) ? (list as readonly string[]) : [];
}

/** Reads a document, JSON in SQLite; empty if unreadable, so that only its own row fails. */
export function documentOf(value: unknown): Readonly<Record<string, unknown>> {
  const document = typeof value === 'string' ? parsed(value) : value;
  const isDocument = typeof document === 'object' && document !== null && !Array.isArray(document);
  return isDocument ? (document as Record<string, unknown>) : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Maximum requests per group; the rest waits for the next one. */
const MAXIMUM_GROUP = 256;
const MAXIMUM_WAITING = 20_000;

/** A request to the store, with the functions that settle its promise. */
export interface Request<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the requests of an event-loop turn into a group. While the maximum number of groups is running, requests
 * wait and form the next group: the higher the load, the larger the groups and the fewer round trips per request.
 *
 * @param serve settles each request of a group; if it throws, the unsettled ones reject with its error
 */
export function createTickQueue<Work>(
  serve: (group: readonly Request<Work>[]) => Promise<void>,
  maximumGroupsUnderWay: number,
) {
  const waiting: Request<Work>[] = [];
  let underWay = 0;
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      serveWaiting();
    });
  }

  function serveWaiting(): void {
    while (waiting.length > 0 && underWay < maximumGroupsUnderWay)
      void serveGroup(waiting.splice(0, MAXIMUM_GROUP));
    if (waiting.length === 0 && underWay === 0) closing?.resolve();
  }

  async function serveGroup(group: readonly Request<Work>[]): Promise<void> {
    underWay++;
    try {
      await serve(group);
    } catch (error) {
      for (const request of group) request.reject(error);
    }
    underWay--;
    if (waiting.length > 0 || closing !== null) schedule();
  }

  return {
    /** Rejects when the queue is closed (`StoreClosedError`) or full (`StoreOverloadedError`). */
    ask<T>(work: Work): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ work, resolve, reject });
      schedule();
      return promise as Promise<T>;
    },
    /** Resolves after all waiting requests; later ones reject. */
    close(): Promise<void> {
      closing ??= Promise.withResolvers<void>();
      schedule();
      return closing.promise;
    },
  };
}
