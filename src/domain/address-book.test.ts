import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressBook } from './address-book.ts';
import { type Address, checksumAddress } from './payout-address.ts';

const digits = fc.stringMatching(/^[0-9a-f]{40}$/);
/** Many addresses that share their first 32 bits, on which the table is built. */
const crowded = fc.tuple(
  fc.constantFrom('00000000', 'ffffffff', 'deadbeef'),
  fc.stringMatching(/^[0-9a-f]{32}$/),
);

function addressOf(hexDigits: string): Address {
  return checksumAddress(hexDigits);
}

/** Address number n, spread evenly. */
function numbered(n: number): Address {
  const prefix = (Math.imul(n, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return `0x${prefix}${n.toString(16).padStart(32, '0')}`;
}

describe('the address book', () => {
  it('knows every address that was added, in any case, and is sure about the others', () => {
    const anyDigits = fc.oneof(
      digits,
      crowded.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.uniqueArray(anyDigits, { maxLength: 80 }), fc.array(anyDigits), (added, others) => {
        const book = createAddressBook();
        for (const [index, hexDigits] of added.entries()) book.add(index + 1, addressOf(hexDigits));
        expect(book.size).toBe(added.length);
        for (const [index, hexDigits] of added.entries()) {
          for (const text of [addressOf(hexDigits), `0x${hexDigits}`, `0x${hexDigits.toUpperCase()}`]) {
            expect(book.isCandidate(text)).toBe(true);
            expect(book.candidatesOf(text)).toContain(index + 1);
          }
        }
        const prefixes = new Set(added.map((hexDigits) => hexDigits.slice(0, 8)));
        for (const other of others) {
          expect(book.isCandidate(`0x${other}`)).toBe(prefixes.has(other.slice(0, 8)));
        }
      }),
    );
  });

  it('names all rows that share the first 32 bits, and no other', () => {
    const book = createAddressBook();
    const tail = (n: number) => n.toString(16).padStart(32, '0');
    book.add(1, `0xdeadbeef${tail(1)}`);
    book.add(2, `0xdeadbef0${tail(2)}`);
    book.add(3, `0xdeadbeef${tail(3)}`);
    expect(book.candidatesOf(`0xDEADBEEF${tail(9)}`).sort()).toEqual([1, 3]);
    expect(book.candidatesOf(`0xdeadbef0${tail(9)}`)).toEqual([2]);
    expect(book.candidatesOf(`0xdeadbeee${tail(9)}`)).toEqual([]);
  });

  it('grows, and still knows the first as well as the last', () => {
    const book = createAddressBook();
    for (let row = 1; row <= 20_000; row++) book.add(row, numbered(row));
    expect(book.size).toBe(20_000);
    for (let row = 1; row <= 20_000; row++) expect(book.candidatesOf(numbered(row))).toContain(row);
    let falseCandidates = 0;
    for (let row = 20_001; row <= 40_000; row++) if (book.isCandidate(numbered(row))) falseCandidates++;
    expect(falseCandidates).toBe(0);
  });

  it('lists its addresses for the node’s filter up to a thousand, and then no more', () => {
    const book = createAddressBook();
    expect(book.addresses).toEqual([]);
    for (let row = 1; row <= 1_000; row++) book.add(row, numbered(row));
    expect(book.addresses).toHaveLength(1_000);
    expect(book.addresses?.at(-1)).toBe(numbered(1_000));
    book.add(1_001, numbered(1_001));
    expect(book.addresses).toBeNull();
    expect(book.isCandidate(numbered(1_001))).toBe(true);
  });

  it('takes a row once: pages that overlap do no harm', () => {
    const book = createAddressBook();
    for (const row of [1, 2, 3, 2, 3, 1, 7]) book.add(row, numbered(row));
    expect(book.size).toBe(4);
    expect(book.lastRow).toBe(7);
    expect(book.addresses).toHaveLength(4);
    expect(book.candidatesOf(numbered(2))).toEqual([2]);
  });

  it('refuses a row number that it could not keep', () => {
    expect(() => createAddressBook().add(2 ** 32, numbered(1))).toThrow(RangeError);
  });
});
