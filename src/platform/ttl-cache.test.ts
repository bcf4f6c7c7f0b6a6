import { expect, it } from 'vitest';
import { createTtlCache } from './ttl-cache.ts';

/** Creates a cache of at most two entries, with a controlled clock and a fetch that counts its calls. */
function createStage(keepMs: number) {
  let nowMs = 0;
  let fetches = 0;
  const reuse = createTtlCache<string>({
    monotonicMs: () => nowMs,
    keepMs,
    maximumEntries: 2,
  });
  const fetchValue = async () => `value ${++fetches}`;
  return {
    reuse,
    read: (key: string) => reuse.fetchOrReuse(key, fetchValue),
    fail: (key: string) => reuse.fetchOrReuse(key, () => Promise.reject(new Error('unreachable'))),
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it('shares one fetch between concurrent callers, then answers at once until the lifetime is over', async () => {
  const { read, pass } = createStage(100);
  expect(await Promise.all([read('a'), read('a')])).toEqual(['value 1', 'value 1']);
  pass(99);
  expect(await read('a')).toBe('value 1');
  pass(1);
  expect(await read('a')).toBe('value 2');
});

it('keeps nothing with a lifetime of 0, but still shares a fetch', async () => {
  const { read } = createStage(0);
  expect(await Promise.all([read('a'), read('a')])).toEqual(['value 1', 'value 1']);
  expect(await read('a')).toBe('value 2');
});

it.each([0, 100])('shares a failure and then drops it, with a lifetime of %s ms', async (keepMs) => {
  const { read, fail } = createStage(keepMs);
  const [first, second] = [fail('a'), fail('a')];
  await expect(first).rejects.toThrow('unreachable');
  await expect(second).rejects.toThrow('unreachable');
  expect(await read('a')).toBe('value 1');
});

it('evicts the least recently used entry, and still answers those who wait for an evicted fetch', async () => {
  const { read } = createStage(100);
  const waiting = read('a');
  await Promise.all([read('b'), read('c')]);
  expect(await waiting).toBe('value 1');
  expect(await read('b')).toBe('value 2');
  expect(await read('a')).toBe('value 4');
  expect(await read('b')).toBe('value 2');
  expect(await read('c')).toBe('value 5');
});
