import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Account } from '../../src/domain/account.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { bookTransfer, type Refund, TRANSFER_MS } from '../../src/domain/refund.ts';
import { newPayment } from '../store/fixtures.ts';
import { createTestDashboard, type TestBrowser, type TestDashboard, textOf } from '../support/dashboard.ts';
import { CUSTOMER_ADDRESS, giveRefund, newRefund, payWithDeposit } from '../support/refunds.ts';

const UNITS = 25_000_000n;

let dashboard: TestDashboard;
let account: Account;
let browser: TestBrowser;
let payment: Payment;

beforeEach(async () => {
  dashboard = await createTestDashboard();
  account = await dashboard.giveAccount();
  browser = await dashboard.signIn(await dashboard.giveUser({ accountId: account.id, role: 'viewer' }));
  payment = newPayment(account.id);
  await dashboard.store.payments.createPayment(payment, null);
  await payWithDeposit(dashboard.store, payment, UNITS);
});
afterEach(() => dashboard.close());

const read = async () => (await browser.get(`/dashboard/payments/${payment.id}`)).payload;
const open = (change: Partial<Refund> = {}) =>
  giveRefund(dashboard.store, newRefund(payment, { units: 12_500_000n, ...change }));

/** Books a transfer of exactly the refund, as the watcher does. */
const pay = (refund: Refund) =>
  dashboard.store.refunds.changeRefund(
    refund,
    (view) => {
      const transfer = {
        recipient: refund.destination,
        sender: refund.destination,
        units: refund.units,
        transactionHash: `0x${'ef'.repeat(32)}`,
        logIndex: 0,
        blockNumber: 90,
      };
      return bookTransfer(view, transfer, UNITS, dashboard.nowMs());
    },
    dashboard.nowMs(),
  );

it('shows a refund with its transfer for a wallet, and then its final transaction', async () => {
  expect(await read()).not.toContain('id="refunds"');
  const refund = await open({ reason: 'Returned <b>cake</b>' });
  const ready = await read();
  expect(ready).toContain(`/transfer?address&#61;${CUSTOMER_ADDRESS}&#38;uint256&#61;12500000`);
  expect(ready).toContain('aria-label="The transfer, for a wallet that scans it"');
  expect(textOf(ready)).toContain('Returned <b>cake</b>');
  expect(textOf(ready)).toContain('12.500000 USDC can still be refunded');
  await pay(refund);
  const done = await read();
  expect(textOf(done)).toContain('The transfer is final.');
  expect(textOf(done)).toContain(`0x${'ef'.repeat(32)}`);
  expect(done).not.toContain('ethereum:');
});

it('shows what is wrong with a submitted transaction, and no transfer for a refund that expired', async () => {
  await open({ transactionProblem: 'too_early' });
  expect(textOf(await read())).toContain('The submitted transfer is older than the deposit.');
  dashboard.advance(TRANSFER_MS + 1);
  browser = await dashboard.signIn(await dashboard.giveUser({ accountId: account.id, role: 'viewer' }));
  const page = await read();
  expect(textOf(page)).toContain('The transfer did not come in time.');
  expect(page).not.toContain('ethereum:');
});
