import { expect, it } from 'vitest';
import { pageOfStored, storedPageOf } from './payment-lists.ts';

const page = { afterRow: 7, rows: Uint32Array.of(8, 9, 11), prefixes: Uint32Array.of(0xdead_beef, 0, 1) };

it('reads a page as it was stored, wherever in memory its bytes lie', () => {
  const stored = storedPageOf(page);
  const shifted = Buffer.concat([Buffer.alloc(3), stored.entries]).subarray(3);
  expect(pageOfStored({ ...stored, entries: shifted })).toEqual(page);
});

it('refuses a page of which a single bit is another, or the end is missing', () => {
  const stored = storedPageOf(page);
  const flipped = Uint8Array.from(stored.entries, (byte, index) => (index === 13 ? byte ^ 1 : byte));
  expect(() => pageOfStored({ ...stored, entries: flipped })).toThrow('after row 7 is damaged');
  expect(() => pageOfStored({ ...stored, entries: stored.entries.slice(0, 16) })).toThrow('is damaged');
});
