import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Address } from '../../payment/address.ts';
import type { ChainEndpoint } from './endpoint-rotation.ts';
import { JsonRpcAnswerError } from './json-rpc.ts';
import { createBlockRange, scanBlocks } from './read-logs.ts';

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

/** Returns the number of log requests to an endpoint that refuses every range with this error. */
async function askedOf(status: number, code: number, message: string, isByHash = false): Promise<number> {
  let asked = 0;
  const block = { number: 1_499, hash: `0x${'11'.repeat(32)}`, timestampMs: 0 };
  const refuse = async () => {
    asked++;
    throw new JsonRpcAnswerError('node', 'eth_getLogs', { status, code, message, data: undefined });
  };
  const context = {
    endpoint: { rpc: { callBatch: refuse }, readBlock: async () => block } as unknown as ChainEndpoint,
    range: createBlockRange(500, 2_000),
    sources: { token: '0x5FbDB2315678afecb367f032d93F642f64180aa3' as Address, factories: [] },
    seenBlock: () => undefined,
  };
  const query = { fromBlock: 1_000, toBlock: 1_499, recipients: null };
  await scanBlocks(context, isByHash ? { ...query, block } : query).catch(() => {});
  return asked;
}

it.each([
  [200, -32_005, 'daily request count exceeded, request rate limited'],
  [200, 429, 'Slow down'],
  [429, 429, 'Your app has exceeded its compute units per second capacity.'],
  [429, -32_007, '15/second request limit reached - reduce calls per second or upgrade your account'],
  [429, 15, 'Too many request, try again later'],
  [200, -32_005, "You've exceeded the RPS limit available on the current plan."],
  [200, -32_011, 'request limit reached'],
  [200, -32_090, 'Monthly capacity limit exceeded.'],
  [429, -32_005, 'block range rate exceeded'],
  [401, -32_000, 'block the key'],
])('asks once where HTTP %d and %d refuse every range alike: %s', async (...refusal) => {
  expect(await askedOf(...refusal)).toBe(1);
  expect(await askedOf(...refusal, true)).toBe(1);
});

it.each([
  [400, -32_600, 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.'],
  [200, -32_005, 'query returned more than 10000 results'],
  [200, -32_602, 'Log response size exceeded. You can make requests with up to a 2K block range'],
  [413, -32_614, 'eth_getLogs is limited to a 10,000 range'],
  [200, 35, 'ranges over 10000 blocks are not supported on freetier'],
  [200, -32_000, 'exceed maximum block range: 5000, upgrade for more'],
  [200, -32_000, 'query timeout exceeded'],
])('asks for ever fewer blocks where HTTP %d and %d refuse the range: %s', async (...refusal) => {
  expect(await askedOf(...refusal)).toBe(9);
});
