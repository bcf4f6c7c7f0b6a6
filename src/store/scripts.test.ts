import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnValue } from './columns.ts';
import { tablesIn } from './scripts.ts';

interface Entity {
  readonly id: string;
  readonly countOfThings: number;
  readonly ownUnits: bigint;
  readonly chainUnits: bigint | null;
  readonly isOpen: boolean | null;
  readonly isOperator: boolean;
  readonly names: readonly string[] | null;
  readonly fields: Readonly<Record<string, string | null>>;
}

const table = tablesIn([]);
const entities = table<Entity>('entities', ['id'])(
  {
    text: ['id'],
    integer: ['countOfThings'],
    units: ['ownUnits'],
    amount: ['chainUnits'],
    flag: ['isOpen'],
    bit: ['isOperator'],
    texts: ['names'],
    json: ['fields'],
  },
  { renamed: { isOpen: 'open' } },
);

const entity: fc.Arbitrary<Entity> = fc.record({
  id: fc.string(),
  countOfThings: fc.integer(),
  ownUnits: fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  chainUnits: fc.option(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })),
  isOpen: fc.option(fc.boolean()),
  isOperator: fc.boolean(),
  names: fc.option(fc.array(fc.string())),
  fields: fc.dictionary(
    fc.string().filter((name) => name !== '__proto__'),
    fc.option(fc.string()),
    { noNullPrototype: true },
  ),
});

/** Returns a value as SQLite returns it: booleans as 0 or 1, and lists as JSON. */
function fromSqlite(value: ColumnValue): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : value;
}

describe('a described table', () => {
  it('gives back an entity as it was, from either engine, by position and by name', () => {
    const names = entities.names.split(', ');
    fc.assert(
      fc.property(entity, (given) => {
        const values = entities.valuesOf(given);
        const stored = values.map(fromSqlite);
        expect(entities.ofValues(values)).toEqual(given);
        expect(entities.ofValues(stored)).toEqual(given);
        expect(entities.ofRow(Object.fromEntries(names.map((name, index) => [name, stored[index]])))).toEqual(
          given,
        );
      }),
    );
  });

  it('does not compile without a column for a field, with one too many, or of a kind that cannot hold the field', () => {
    interface Small {
      readonly id: string;
      readonly units: bigint;
    }
    // @ts-expect-error a field has no column
    table<Small>('small', ['id'])({ text: ['id'] });
    // @ts-expect-error a column has no field
    table<Small>('small', ['id'])({ text: ['id', 'other'], amount: ['units'] });
    // @ts-expect-error an integer column cannot hold a bigint
    table<Small>('small', ['id'])({ text: ['id'], integer: ['units'] });
    expect(table<Small>('small', ['id'])({ text: ['id'], amount: ['units'] }).columns).toHaveLength(2);
  });
});

it('writes an amount that no column takes as the greatest one, and reads one that is none as nothing', () => {
  const base = {
    id: '',
    countOfThings: 0,
    ownUnits: 0n,
    isOpen: null,
    isOperator: false,
    names: null,
    fields: {},
  };
  const stored = (chainUnits: bigint) => entities.valuesOf({ ...base, chainUnits });
  const sum = 9n * (2n ** 256n - 1n);
  expect(stored(sum)).toContain('9'.repeat(78));
  expect(stored(2n ** 256n - 1n)).toContain(String(2n ** 256n - 1n));
  const spoiled = stored(5n).map((value) => (value === '5' ? 'none' : value));
  expect(entities.ofValues(spoiled)).toEqual({ ...base, chainUnits: 0n });
});
