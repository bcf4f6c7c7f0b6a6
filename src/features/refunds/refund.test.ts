import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ADDRESS, NOW_MS, newPayment } from '../../../test/store/fixtures.ts';
import { newRefund } from '../../../test/support/refunds.ts';
import { smaller } from '../../payment/money.ts';
import {
  bookTransfer,
  decideConfirmation,
  type Refund,
  refundableUnits,
  refundOfTransfer,
  refundShareUnits,
} from './refund.ts';

const payment = newPayment('account');
const OTHER = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const refundOf = (change: Parameters<typeof newRefund>[1] = {}) =>
  newRefund(payment, { units: 20n, destination: ADDRESS, scannedBlock: 10, ...change });
const transfer = {
  recipient: ADDRESS,
  units: 20n,
  blockNumber: 11,
  logIndex: 0,
  transactionHash: '0x1',
} as const;

it('leaves to refund what an expired or canceled refund had taken', () => {
  const expired = refundOf({ expiresAtMs: NOW_MS });
  const canceled = refundOf({ status: 'canceled' });
  const open = refundOf({ expiresAtMs: NOW_MS + 1 });
  expect(refundableUnits(100n, [expired, canceled], NOW_MS)).toBe(100n);
  expect(refundableUnits(100n, [expired, canceled, open], NOW_MS)).toBe(80n);
});

it('refunds parts of a charge that together never exceed what arrived for it, and lack less than a unit each', () => {
  const parts = fc.array(fc.integer({ min: 1, max: 500_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(parts, fc.bigInt(0n, 10n ** 11n), fc.bigInt(1n, 10n ** 11n), (cents, received, usdUnits) => {
      const whole = BigInt(cents.reduce((sum, each) => sum + each, 0));
      const units = cents.map((each) => refundShareUnits({ usdUnits }, received, [BigInt(each), whole]));
      const missing = smaller(received, usdUnits) - units.reduce((sum, each) => sum + each, 0n);
      expect(missing >= 0n && missing < BigInt(cents.length)).toBe(true);
    }),
  );
});

it('books no transfer beyond what the payment’s other refunds leave', () => {
  const refund = refundOf({ expiresAtMs: NOW_MS + 1 });
  const paid = refundOf({ status: 'paid', units: 81n });
  const view = { refund, others: [paid], rivals: [] };
  expect(bookTransfer(view, [transfer], 101n, NOW_MS)?.refund.status).toBe('paid');
  expect(bookTransfer(view, [transfer], 100n, NOW_MS)?.refund.transactionProblem).toBe('exceeds_received');
});

it('refuses a transfer once, however often it is found, and keeps another that was submitted meanwhile', () => {
  const find = (refund: Refund) => bookTransfer({ refund, others: [], rivals: [] }, [transfer], 19n, NOW_MS);
  const refused = find(refundOf())?.refund as Refund;
  expect(refused.transactionProblem).toBe('exceeds_received');
  expect(find(refused)).toBeNull();
  const asked = { ...refused, transactionProblem: null };
  expect(find({ ...asked, submittedHash: '0x1' })).toMatchObject({ refund: { submittedHash: null } });
  const other = find({ ...asked, submittedHash: '0x2' })?.refund as Refund;
  expect(other).toMatchObject({ submittedHash: '0x2', transactionProblem: 'exceeds_received' });
  expect(find(other)).toBeNull();
});

it('takes a transfer only from above the blocks that were final at its opening', () => {
  const refund = refundOf();
  expect(refundOfTransfer(transfer, [refund])).toBe(refund);
  expect(refundOfTransfer({ ...transfer, blockNumber: 10 }, [refund])).toBeUndefined();
});

it('confirms no other address than the one that was named', () => {
  const refund = refundOf({ status: 'awaiting_confirmation', expiresAtMs: NOW_MS + 1 });
  const view = { refund, others: [], rivals: [] };
  expect(decideConfirmation(view, ADDRESS, 12, NOW_MS).refund.status).toBe('awaiting_transfer');
  expect(() => decideConfirmation(view, OTHER, 12, NOW_MS)).toThrow('another address');
});
