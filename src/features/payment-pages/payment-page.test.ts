import { expect, it } from 'vitest';
import { newAccount } from '../../../test/store/fixtures.ts';
import { newPage } from '../../../test/store/payment-pages.ts';
import { amountBoundsOf, pageStateAt, payoutAddressOf } from './payment-page.ts';

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
