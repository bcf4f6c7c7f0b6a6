import { bytesOfAddress, checksumAddressBytes } from '../payment/address.ts';

/**
 * Tables described once for all engines. Column lists, inserts, mappers between rows and entities, and the move from one
 * engine to the other follow from the description.
 */

/**
 * How a column stores its values. `units` is an amount of our own: a bigint in the program, an integer in the database.
 * `amount` is one that the chain or a provider names: decimal text, or numeric, of any size. `bit` is a flag that both
 * engines store as 0 or 1; a `flag` is a boolean where the engine has one. `texts` is a list of text, `json` a document,
 * `address` the twenty bytes of an address that is looked up.
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
  /** The field of the entity; null for a column that only statements of its own read. */
  readonly field: string | null;
  readonly kind: ColumnKind;
}

/** A value on its way to a statement; each engine stores booleans and lists in its own way. */
export type ColumnValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | Uint8Array;

/** A row as both engines read it: by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** The kinds that can hold a field. */
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

/** The fields of an entity by the kind of their columns, which are in this order. */
export type FieldsByKind<Entity> = { readonly [Kind in ColumnKind]?: readonly FieldOf<Entity, Kind>[] };

/** Does not compile where a field of the entity is in no list. */
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
  /** Columns whose names are not those of their fields. */
  readonly renamed?: { readonly [Field in keyof Entity]?: string };
  /** Columns that are no fields of the entity. */
  readonly others?: Readonly<Record<string, ColumnKind>>;
  /** The column that the database counts up by itself. */
  readonly numberedBy?: string;
}

/** A table whose rows are entities of one type. */
export interface Table<Entity = unknown> {
  readonly name: string;
  /** Columns of the fields first, in their order. */
  readonly columns: readonly Column[];
  /** Columns whose values are unique together: rows are read in their order. */
  readonly orderedBy: readonly string[];
  readonly numberedBy: string | null;
  /** The names of the fields' columns, for `SELECT` and `INSERT`. */
  readonly names: string;
  /** The same, each with the table's name. */
  readonly qualifiedNames: string;
  /** `INSERT INTO … VALUES (?1, …)` for `valuesOf`. */
  readonly insertSql: string;
  /** From the values of the fields' columns, in their order. */
  ofValues(values: readonly unknown[]): Entity;
  ofRow(row: Row): Entity;
  /** The values of the fields' columns, in their order. */
  valuesOf(entity: Entity): ColumnValue[];
}

/** Describes a table. A field of the entity without a column does not compile, nor does a column without a field. */
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

/** The name of the column of a field. */
export function snakeCaseOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `?1, ?2, …` */
export function placesOf(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `?${first + index}`).join(', ');
}

interface Conversion {
  readonly read: (value: unknown) => unknown;
  /** Absent where a value is stored as it is. */
  readonly write?: (value: never) => ColumnValue;
}

/** Without a conversion, a value is as it is stored. */
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
  return (values) => {
    const entity: Record<string, unknown> = {};
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
 * An amount as it is stored. What is none counts as nothing: the row's own payment no longer adds up, which `verify` says, and
 * no other payment waits for it.
 */
function readAmount(value: string | null): bigint | null {
  if (value === null) return null;
  return /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}

/** A list of text: JSON in SQLite, an array in PostgreSQL. An unreadable one is empty, so that it grants nothing. */
export function textsOf(value: unknown): readonly string[] {
  const list = typeof value === 'string' ? parsed(value) : value;
  return list === null || Array.isArray(list) ? (list as readonly string[]) : [];
}

/** A document, JSON in SQLite; empty where it cannot be read, so that only its own row fails. */
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
