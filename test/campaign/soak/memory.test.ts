import { expect, it } from 'vitest';
import { courseOf, leastOf, medianOf } from './memory.ts';

const samples = (valueAt: (index: number) => number) =>
  Array.from({ length: 400 }, (_, index) => valueAt(index));
/** Up and down between collections. */
const sawtooth = (index: number) => 60 + (index % 37);

it('a leak is not flat, although garbage blurs it', () => {
  const leaking = samples((index) => sawtooth(index) + index / 10);
  expect(courseOf(leaking, medianOf, 8).isFlat).toBe(false);
  expect(courseOf(leaking, leastOf, 8).isFlat).toBe(false);
});

it('what is taken in the first quarter and then kept, or comes and goes, is flat', () => {
  const settled = samples((index) => sawtooth(index) + Math.min(index, 100));
  expect(courseOf(settled, medianOf, 8)).toMatchObject({ isFlat: true });
  expect(courseOf(settled, leastOf, 8)).toEqual({ second: 160, last: 160, isFlat: true });
});

it('too few samples say nothing', () => {
  expect(() => courseOf([1, 2, 3], medianOf, 1)).toThrow(RangeError);
});
