import type { Payment } from '../domain/payment.ts';
import type { SweepBalances } from '../domain/ports/chain.ts';
import type { LedgerStore } from '../domain/ports/ledger-store.ts';
import type { PaymentStore, PaymentView } from '../domain/ports/payment-store.ts';
import { sumLedger } from '../domain/settle.ts';

export interface SweepContext {
  readonly payments: PaymentStore;
  readonly ledger: LedgerStore;
  readonly sweep: SweepBalances;
}

/** What a sweep over some payments found. */
export interface SweepResult {
  /** The last payment looked at, where the next sweep goes on; null at the end. */
  readonly last: string | null;
  /** Open payments whose address holds another amount than the ledger knows of. */
  readonly unexplained: readonly Payment['id'][];
}

const PAYMENTS_AT_A_TIME = 500;
const AFTER_EVERY_ID = 'g'; // Ids are hexadecimal.

/**
 * Compares what open payments' addresses hold on chain with the ledger, at the newest final block that was scanned:
 * a difference means that the watcher was not told of an event. Goes over all payments in portions; only those that
 * are still waiting for money are looked at, because a missed deposit hurts nobody else.
 */
export async function sweepOpenPayments(context: SweepContext, after: string): Promise<SweepResult> {
  const cursor = await context.ledger.readCursor();
  if (cursor === null) return { last: null, unexplained: [] };
  const ids = await context.payments.listPaymentIds(after, AFTER_EVERY_ID, PAYMENTS_AT_A_TIME);
  const views = await Promise.all(ids.map((id) => context.payments.viewPayment(id)));
  // Only while nothing is provisional do ledger and balance speak of the same block.
  const open = views.filter((view): view is PaymentView => view !== null && isWaiting(view, cursor.number));
  const addresses = open.map(({ payment }) => payment.depositAddress);
  const balances = addresses.length === 0 ? [] : await context.sweep(addresses, cursor.number);
  const unexplained = open
    .filter(({ ledger }, index) => sumLedger(ledger).heldUnits !== balances[index])
    .map(({ payment }) => payment.id);
  return { last: ids.length < PAYMENTS_AT_A_TIME ? null : (ids.at(-1) ?? null), unexplained };
}

function isWaiting({ payment, ledger }: PaymentView, cursorBlock: number): boolean {
  if (payment.status !== 'unpaid' || ledger.finalBlock !== cursorBlock) return false;
  return [...ledger.deposits, ...ledger.releases].every(({ blockNumber }) => blockNumber <= cursorBlock);
}
