import { createDepositAddressCalculator, termsOf } from '../payment/address.ts';
import { stateConflict } from '../payment/errors.ts';
import { UNITS_PER_CENT } from '../payment/money.ts';
import { noOrder, type Payment, untouchedProgress } from '../payment/payment.ts';
import { paymentIdTimeMs } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import { MULTI_PROVIDER } from '../payment/provider-catalog.ts';
import { releasePayment } from '../payment/release-payment.ts';
import { settleScanned, sumObservations } from '../payment/settle.ts';
import { ChainUnavailableError, type ChainView, type VerifiedChain } from './chain/chain.ts';
import type { BlockReference, ObservationStore, SettlementStore } from './settlement-store.ts';
import { areConfirmed, joinRows, NO_ROWS, readPaymentLogs } from './watch-deposits.ts';

export interface RebuildContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore; settlements: SettlementStore }> {
  readonly chain: VerifiedChain;
  readonly tokenFingerprint: string;
  readonly nowMs: () => number;
}

/**
 * Recreates a payment that was lost in a restore, as canceled and without a callback URL. Records the deposits and
 * releases at its address, and requests the release of the balance. The given terms determine the address, together
 * with a known factory and fee wallet. Throws `payment_state_conflict` if the payment exists or no address has money.
 */
export async function rebuildPayment(
  context: RebuildContext,
  lost: Pick<Payment, 'id' | 'accountId' | 'payoutAddress' | 'feeBasisPoints'>,
): Promise<Payment> {
  const { payments, observations, chain, nowMs } = context;
  const known = await payments.viewPayment(lost.id);
  // An interrupted rebuild may continue.
  if (known !== null && (known.payment.status !== 'canceled' || known.observations.deposits.length > 0))
    throw stateConflict('The payment is not lost: the database has it.');
  const cursor = await observations.readCursor();
  if (cursor === null) throw new ChainUnavailableError('no block is scanned yet');
  const places = (await context.settlements.listSettlements()).map((settlement) => {
    const { chainId, factory, feeWallet } = settlement;
    const depositAddress = createDepositAddressCalculator(settlement)(termsOf({ ...lost, feeWallet }));
    return { chainId, factory, feeWallet, depositAddress };
  });
  const addresses = places.map(({ depositAddress }) => depositAddress);
  const balances = await chain.sweepBalances(addresses, cursor.number);
  const index = balances.findIndex((units) => units >= UNITS_PER_CENT);
  const [place, heldUnits = 0n] = [places[index], balances[index]];
  if (place === undefined || (known?.payment.depositAddress ?? place.depositAddress) !== place.depositAddress)
    throw stateConflict(
      `These terms lead to ${addresses.join(', ')}, which held nothing in block ${cursor.number}: check wallet and fee.`,
    );
  const usdUnits = heldUnits - (heldUnits % UNITS_PER_CENT);
  const payment: Payment = {
    ...untouchedProgress,
    ...noOrder,
    ...lost,
    ...place,
    createdAtMs: paymentIdTimeMs(lost.id),
    status: 'canceled',
    forwardStatus: 'canceled',
    cancelReason: 'operator',
    // The price is lost, so the balance replaces it. The payment never counts as paid.
    amountCents: Number(usdUnits / UNITS_PER_CENT),
    currency: 'USD',
    originalAmountCents: null,
    customerFeeCents: null,
    passFeeToCustomer: false,
    provider: MULTI_PROVIDER,
    callbackUrl: null,
    email: null,
    note: 'Rebuilt after a restore',
    tokenFingerprint: context.tokenFingerprint,
    usdUnits,
    toleranceBasisPoints: 0,
    maxProviderFeeBasisPoints: 0,
    paidThresholdUnits: usdUnits,
  };
  // Confirmed before storing, because a payment stored with wrong terms would block a rebuild with the right ones.
  const rows = await chain.reader.withView((view) => findRows(view, cursor, payment, heldUnits));
  if (known === null) await payments.createPayment(payment, null);
  await observations.recordMissed({ from: cursor, ...rows }, (view) =>
    settleScanned(view, { nowMs: nowMs() }),
  );
  return releasePayment(context, lost.id);
}

/** Reads a payment's final deposits and releases, from its creation until they explain its balance. */
async function findRows(
  view: ChainView,
  cursor: BlockReference,
  { id, createdAtMs, depositAddress }: Payment,
  heldUnits: bigint,
) {
  const owner = { findDepositOwners: async () => [{ id, depositAddress }] };
  let rows = NO_ROWS;
  const isExplained = () => sumObservations({ ...rows, finalBlock: cursor.number }).heldUnits === heldUnits;
  let fromBlock = await firstBlockAt(view, createdAtMs, cursor.number);
  while (fromBlock <= cursor.number && !isExplained()) {
    const query = { fromBlock, toBlock: cursor.number, recipients: [depositAddress] };
    const { scannedTo, rows: found } = await readPaymentLogs(owner, view, query);
    rows = joinRows([rows, found]);
    fromBlock = scannedTo.number + 1;
  }
  if (isExplained() && (await areConfirmed(view, rows, cursor))) return rows;
  throw new ChainUnavailableError(`two hosts do not show how ${depositAddress} got its balance; try again`);
}

/** Finds the first block at or after a time. */
async function firstBlockAt(view: ChainView, timeMs: number, newest: number): Promise<number> {
  let [low, high] = [0, newest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = await view.readBlock(middle);
    if (block === null) throw new ChainUnavailableError(`${view.source} does not have block ${middle}`);
    if (block.timestampMs < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
