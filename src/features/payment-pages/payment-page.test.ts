import { expect, it } from 'vitest';
import { newAccount } from '../../../test/store/fixtures.ts';
import { newPage } from '../../../test/store/payment-pages.ts';
import { amountBoundsOf, pageStateAt, payoutAddressOf, suggestedAmounts } from './payment-page.ts';

const SAVED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OLDER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';

it('pays to the wallet that the account has saved, whatever the page says', () => {
  const account = newAccount({ wallet: SAVED });
  const page = newPage(account.id, { payoutAddress: OLDER });
  expect(payoutAddressOf(page, account)).toBe(SAVED);
  expect(payoutAddressOf(page, { ...account, wallet: null })).toBe(OLDER);
});

it('lowers a saved maximum that a fee on top would take above the limit', () => {
  const page = { minimumCents: 100, maximumCents: 1_000_000, passFeeToCustomer: true };
  const bounds = { minimumCents: 100, maximumCents: 975_000 };
  expect(amountBoundsOf(page, { feeBasisPoints: 250 })).toEqual(bounds);
  expect(amountBoundsOf({ ...page, maximumCents: 5_000 }, { feeBasisPoints: 250 }).maximumCents).toBe(5_000);
});

it('has ended at the first moment after its last day', () => {
  const account = newAccount({ wallet: SAVED });
  const page = newPage(account.id, { endsAtMs: 1_000, stock: null, passFeeToCustomer: false });
  const used = { page, paid: 0, receivedUnits: 0n, held: 0 };
  expect(pageStateAt(used, account, 999)).toBe('open');
  expect(pageStateAt(used, account, 1_000)).toBe('ended');
});

it.each([
  [1, 1_000_000, 'USD', [10, 20, 50, 100]],
  [1, 1_000_000, 'INR', [100, 200, 500, 1_000]],
  [20_000, 1_000_000, 'EUR', [200, 500, 1_000, 2_000]],
  [50, 700, 'USD', [1, 2, 5]],
  [2_500, 6_000, 'USD', [25, 50, 60]],
  [1_234, 1_234, 'USD', [12.34]],
] as const)('suggests amounts from %i to %i cents of %s', (minimumCents, maximumCents, currency, amounts) => {
  const suggested = suggestedAmounts({ minimumCents, maximumCents }, currency);
  expect(suggested.map((cents) => cents / 100)).toEqual(amounts);
});
