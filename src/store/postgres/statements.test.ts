import fc from 'fast-check';
import { types } from 'pg';
import { expect, it } from 'vitest';
import { arrayLiteral } from './statements.ts';

const { arrayParser } = types as unknown as {
  arrayParser: { create(text: string, transform: (text: string) => string): { parse(): (string | null)[] } };
};

function read(literal: string): (string | null)[] {
  return arrayParser.create(literal, (text) => text).parse();
}

it('is read as what was written, whatever the texts hold', () => {
  const element = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', ',', ' ', '\n', "'") }),
    fc.constantFrom('', 'NULL', 'null'),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.array(element), (elements) => {
      expect(read(arrayLiteral(elements))).toEqual(elements);
    }),
  );
});

it('holds numbers and booleans as PostgreSQL spells them', () => {
  expect(arrayLiteral([12, -1, 10n ** 30n, true, false, null])).toBe(
    `{12,-1,1${'0'.repeat(30)},true,false,NULL}`,
  );
});

it.each([undefined, {}, [], new Date(), Symbol('x')])('refuses %s', (element) => {
  expect(() => arrayLiteral([element])).toThrow(TypeError);
});
