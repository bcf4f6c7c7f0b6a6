import type { Store } from '../../src/app/store/store.ts';
import { noTransfer, type Refund, TRANSFER_MS } from '../../src/features/refunds/refund.ts';
import type { Payment, PaymentId } from '../../src/payment/payment.ts';
import { createKeyedHash } from '../../src/platform/keyed-hash.ts';

export const CUSTOMER_ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

let made = 0;

/** A refund that waits for its transfer. */
export function newRefund(payment: Pick<Payment, 'id' | 'accountId'>, change: Partial<Refund> = {}): Refund {
  const createdAtMs = change.createdAtMs ?? Date.now();
  return {
    ...noTransfer,
    id: `rfd_${(++made).toString(16).padStart(20, '0')}`,
    accountId: payment.accountId,
    paymentId: payment.id,
    createdAtMs,
    units: 5_000_000n,
    reason: null,
    status: 'awaiting_transfer',
    expiresAtMs: createdAtMs + TRANSFER_MS,
    idempotencyKey: null,
    fingerprint: '',
    destination: CUSTOMER_ADDRESS,
    scannedBlock: 10,
    ...change,
  };
}

/** Makes the tokens of the customers' links. */
export const addressLinkTokens = createKeyedHash('links of refunds', 'a secret of the tests');

export function giveRefund(store: Store, refund: Refund): Promise<Refund> {
  const decide = () => ({ refund, event: 'refund.opened' }) as const;
  return store.refunds.createRefund(refund, decide, refund.createdAtMs);
}

let block = 1;

/** A final deposit of so many units, with which the payment is paid. */
export async function payWithDeposit(
  { observations, payments }: Store,
  payment: { readonly id: string; readonly accountId: string },
  units: bigint,
  change: Partial<Payment> = {},
): Promise<void> {
  const reference = { ...payment, id: payment.id as PaymentId };
  const cursor = await observations.readCursor();
  const from = cursor ?? { number: 1, hash: '0x01', timestampMs: Date.now() };
  if (cursor === null) await observations.startCursor(from);
  block = Math.max(block, from.number) + 1;
  const final = { number: block, hash: `0x${block.toString(16)}`, timestampMs: Date.now() };
  const deposit = {
    paymentId: reference.id,
    accountId: payment.accountId,
    transactionHash: `0x${block.toString(16).padStart(64, '0')}`,
    logIndex: 0,
    blockNumber: block,
    units,
  };
  await observations.recordScan(
    { from, final, scannedTo: block, deposits: [deposit], releases: [] },
    () => ({}) as never,
  );
  await payments.decidePayment(reference.id, () => ({
    change: { status: 'paid', forwardStatus: 'completed', paidAtMs: Date.now(), ...change },
  }));
}
