import { expect, it } from 'vitest';
import type { Address } from '../payment/address.ts';
import { createOpenAddresses } from './watch-deposits.ts';

const addresses = Array.from(
  { length: 129 },
  (_, index) => `0x${index.toString(16).padStart(40, '0')}` as Address,
);

it('filters for up to 128 open addresses, which join the list at once and leave it 30 seconds later', async () => {
  let open: readonly Address[] | null = addresses.slice(0, 127);
  let nowMs = 0;
  const list = createOpenAddresses({
    payments: { listDepositAddresses: async (after) => (after === 'the watermark' ? open : []) },
    observations: { readExpiryWatermark: async () => 'the watermark' },
    monotonicMs: () => nowMs,
  });
  expect(await list()).toEqual(open);
  open = addresses.slice(1, 128);
  nowMs = 30_000;
  expect(await list()).toEqual(addresses.slice(0, 128));
  open = addresses.slice(1);
  expect(await list()).toBeNull();
  nowMs = 30_001;
  expect((await list())?.toSorted()).toEqual(open);
  // Too many payments follow the oldest open one.
  open = null;
  expect(await list()).toBeNull();
});
