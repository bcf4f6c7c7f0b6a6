import { bytesOfAddress, checksumAddressBytes } from '../payment/address.ts';
import { parseJson } from '../platform/read-json.ts';

// Table descriptions for both engines. Column lists, inserts, mappers and the move between engines use them.

/**
 * Storage of a column's values.
 *
 * - `units`: an amount that the service limits, as an integer
 * - `amount`: an amount of any size from the chain or a provider, as text (SQLite) or numeric (PostgreSQL)
 * - `bit`: a flag, as 0 or 1 on both engines
 * - `flag`: a flag, as 0 or 1 (SQLite) or a boolean (PostgreSQL)
 * - `address`: an address, as 20 bytes, for fast lookups
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
  /** Field of the entity; null for a column that only handwritten statements use. */
  readonly field: string | null;
  readonly kind: ColumnKind;
}

/** Statement parameter. Engines differ in how they store booleans and lists. */
export type ColumnValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | Uint8Array;

export type Row = Readonly<Record<string, unknown>>;

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

export type FieldsByKind<Entity> = { readonly [Kind in ColumnKind]?: readonly FieldOf<Entity, Kind>[] };

type Missing<Entity, Given extends FieldsByKind<Entity>> = Exclude<
  keyof Entity,
  NonNullable<Given[keyof Given & ColumnKind]>[number]
>;

/** The given lists of fields. A field of the entity that is missing from all lists is a compile error. */
export type AllFields<Entity, Given extends FieldsByKind<Entity>> = [Missing<Entity, Given>] extends [never]
  ? Given
  : { readonly 'fields without a column': Missing<Entity, Given> };

export interface TableOptions<Entity> {
  /** Column names that differ from their field's name in snake case. */
  readonly renamed?: { readonly [Field in keyof Entity]?: string };
  readonly others?: Readonly<Record<string, ColumnKind>>;
  readonly numberedBy?: string;
}

export interface Table<Entity = unknown> {
  readonly name: string;
  /** All columns. The fields' columns come first, in the order of the fields. */
  readonly columns: readonly Column[];
  /** Columns of a unique key, in whose order a move reads the rows. */
  readonly orderedBy: readonly string[];
  readonly numberedBy: string | null;
  /** Names of the fields' columns, for `SELECT` and `INSERT`. */
  readonly names: string;
  readonly qualifiedNames: string;
  readonly insertSql: string;
  ofValues(values: readonly unknown[]): Entity;
  ofRow(row: Row): Entity;
  valuesOf(entity: Entity): ColumnValue[];
}

export function describeTable<Entity>(
  name: string,
  orderedBy: readonly string[],
  fields: Readonly<Record<string, readonly string[]>>,
  { renamed = {}, others = {}, numberedBy }: TableOptions<Entity>,
): Table<Entity> {
  const entity = Object.entries(fields).flatMap(([kind, listed]) =>
    listed.map((field): Column => {
      const column = (renamed as Record<string, string>)[field] ?? snakeCaseOf(field);
      return { name: column, field, kind: kind as ColumnKind };
    }),
  );
  const names = entity.map((column) => column.name);
  const places = names.map((_, index) => `?${index + 1}`);
  const ofValues = createReader<Entity>(entity);
  return {
    name,
    columns: [
      ...entity,
      ...Object.entries(others).map(([other, kind]): Column => ({ name: other, field: null, kind })),
    ],
    orderedBy,
    numberedBy: numberedBy ?? null,
    names: names.join(', '),
    qualifiedNames: names.map((column) => `${name}.${column}`).join(', '),
    insertSql: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${places.join(', ')})`,
    ofValues,
    ofRow: (row) => ofValues(names.map((column) => row[column])),
    valuesOf: createWriter<Entity>(entity),
  };
}

export function snakeCaseOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Conversion {
  readonly read: (value: unknown) => unknown;
  /** Conversion for writing; absent if values are stored unchanged. */
  readonly write?: (value: never) => ColumnValue;
}

const conversions: Partial<Record<ColumnKind, Conversion>> = {
  units: { read: (value) => (value === null ? null : BigInt(value as string | number)), write: Number },
  amount: {
    read: (value) => readAmount(value as string | null),
    write: (amount: bigint) => String(amount > MAXIMUM_AMOUNT ? MAXIMUM_AMOUNT : amount),
  },
  flag: { read: (value) => (value === null ? null : value === 1 || value === true) },
  bit: { read: (value) => value === 1, write: Number },
  address: { read: (value) => checksumAddressBytes(value as Uint8Array), write: bytesOfAddress },
  texts: { read: textsOf },
  json: { read: (value) => (value === null ? null : documentOf(value)), write: JSON.stringify },
};

function createReader<Entity>(columns: readonly Column[]): (values: readonly unknown[]) => Entity {
  const fields = columns.map(({ field, kind }) => [field as string, conversions[kind]?.read] as const);
  // Copies a blank entity, so that all entities have one shape in V8. Otherwise, creating them takes 50 % longer.
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

/** Largest `numeric(78)` of PostgreSQL. It exceeds the sum of eight 256-bit numbers. */
const MAXIMUM_AMOUNT = 10n ** 78n - 1n;

/** Reads an amount. An unreadable amount counts as zero, so that `verify` reports sums that do not match. */
function readAmount(value: string | null): bigint | null {
  if (value === null) return null;
  return /^-?\d+$/.test(value) ? BigInt(value) : 0n;
}

/** Reads a list: JSON text in SQLite, an array in PostgreSQL. An unreadable list is empty, so it grants no rights. */
export function textsOf(value: unknown): readonly string[] {
  const list = typeof value === 'string' ? parseJson(value) : value;
  return list === null || Array.isArray(list) ? (list as readonly string[]) : [];
}

/** Reads a document, which is JSON text in SQLite. An unreadable document is empty, so that only its own row fails. */
export function documentOf(value: unknown): Readonly<Record<string, unknown>> {
  const document = typeof value === 'string' ? parseJson(value) : value;
  const isDocument = typeof document === 'object' && document !== null && !Array.isArray(document);
  return isDocument ? (document as Record<string, unknown>) : {};
}
