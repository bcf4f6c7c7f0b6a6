import type { Discrepancy, DiscrepancyKind } from '../../domain/discrepancy.ts';
import type { Movement } from '../../domain/movement.ts';
import type { Deposit, Release } from '../../domain/payment.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { RelayBatch } from '../../domain/ports/relay-store.ts';
import type { Webhook } from '../../domain/webhook.ts';

/** All that the database says of one payment. */
export interface PaymentFacts {
  readonly view: PaymentView;
  /** Its entries in the book, in their order. */
  readonly movements: readonly Movement[];
  readonly webhooks: readonly Webhook[];
}

/** What the checks of a payment need besides. */
export interface CheckContext {
  readonly nowMs: number;
  readonly openBatches: readonly RelayBatch[];
  /** The deposit address that the payment's terms give; null where its factory is not known. */
  readonly depositAddressOf: (payment: PaymentView['payment']) => string | null;
}

/** Collects what is wrong with one payment. */
export interface Findings {
  readonly found: readonly Discrepancy[];
  add(kind: DiscrepancyKind, expected: string, found: string): void;
  /** Adds it unless both are the same. */
  compare(kind: DiscrepancyKind, expected: string, found: string): void;
}

export function createFindings(paymentId: string): Findings {
  const collected: Discrepancy[] = [];
  const add: Findings['add'] = (kind, expected, found) =>
    void collected.push({ paymentId, kind, expected, found });
  return {
    found: collected,
    add,
    compare(kind, expected, found) {
      if (expected !== found) add(kind, expected, found);
    },
  };
}

/** The rows in blocks that are final. */
export function finalRowsOf({ ledger }: PaymentView): {
  readonly deposits: readonly Deposit[];
  readonly releases: readonly Release[];
} {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) => blockNumber <= ledger.finalBlock;
  return { deposits: ledger.deposits.filter(isFinal), releases: ledger.releases.filter(isFinal) };
}
