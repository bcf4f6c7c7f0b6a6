import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBlockRange } from './read-logs.ts';

it('starts as told, doubles with each success and never passes its bounds', () => {
  const range = createBlockRange(3, 20);
  const seen: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    seen.push(range.blocks);
    range.grow();
  }
  expect(seen).toEqual([3, 6, 12, 20, 20]);
  expect(createBlockRange(100, 7).blocks).toBe(7);
});

it('settles below any limit of an endpoint with few refusals, and within half of it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 2_000 }), (limit, initial) => {
      const range = createBlockRange(initial, 2_000);
      let refusals = 0;
      for (let turn = 0; turn < 40; turn++) {
        if (range.blocks <= limit) range.grow();
        else {
          expect(range.shrink(range.blocks)).toBe(true);
          refusals++;
        }
      }
      expect(range.blocks).toBeLessThanOrEqual(limit);
      expect(range.blocks * 2 + 1).toBeGreaterThanOrEqual(Math.min(limit, 2_000) / 2);
      expect(refusals).toBeLessThanOrEqual(12);
    }),
  );
});

it('tries a larger range again after a while', () => {
  const range = createBlockRange(64, 1_000);
  range.shrink(64);
  for (let turn = 0; turn < 49; turn++) range.grow();
  expect(range.blocks).toBe(32);
  range.grow();
  expect(range.blocks).toBe(64);
});

it('cannot shrink below one block', () => {
  const range = createBlockRange(1, 10);
  expect(range.shrink(1)).toBe(false);
  expect(range.blocks).toBe(1);
});
