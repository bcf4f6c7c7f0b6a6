import type { Client, PaymentQuery } from './client.ts';
import { CardCheckoutError } from './errors.ts';
import type { PaymentStatus } from './wire.ts';

/**
 * Store that remembers fulfilled payments, such as a database.
 *
 * `runOnce` opens a transaction and sets a unique mark for the payment, such as a unique row or an order's empty
 * `fulfilled_at`. If the mark is new, it runs `work` in the same transaction. Both are committed together or not at
 * all, so `work` takes effect once, even after a crash. Resolves to whether `work` ran.
 */
export interface FulfilmentStore<Transaction = void> {
  runOnce(paymentId: string, work: (transaction: Transaction) => Promise<void> | void): Promise<boolean>;
}

export interface FulfilOnceOptions<Transaction> {
  readonly client: { readonly payments: Pick<Client['payments'], 'retrieve'> };
  /** Payment of the order: its id or token. */
  readonly payment: PaymentQuery | string;
  /** Amount and currency of the order. If the service reports others, nothing is fulfilled. */
  readonly expected?: { readonly amount?: string; readonly currency?: string };
  /**
   * Fulfils the order in the given transaction, whose writes take effect exactly once. Queue external effects, such as
   * mail or a parcel, in the same transaction and execute them from there.
   */
  readonly fulfil: (transaction: Transaction, payment: PaymentStatus) => Promise<void> | void;
}

export interface Fulfilment {
  /** `fulfilled`: by this call. `already_fulfilled`: by an earlier call. `not_paid`: nothing was done. */
  readonly outcome: 'fulfilled' | 'already_fulfilled' | 'not_paid';
  readonly payment: PaymentStatus;
}

/** Error thrown if the service reports another amount or currency than the order has. */
export class WrongAmountError extends CardCheckoutError {
  override readonly name = 'WrongAmountError';
}

/**
 * Confirms with the service that a payment is paid, then fulfils its order exactly once, even for duplicates and for
 * concurrent webhooks and polls. After a crash, the next call recovers.
 *
 * @throws ApiError, ConnectionError if it cannot be confirmed; WrongAmountError for another amount or currency;
 *   and errors of the store and of `fulfil`. Nothing was fulfilled then, and the call can be repeated.
 */
export async function fulfilOnce<Transaction>(
  store: FulfilmentStore<Transaction>,
  { client, payment: query, expected = {}, fulfil }: FulfilOnceOptions<Transaction>,
): Promise<Fulfilment> {
  const payment = await client.payments.retrieve(query);
  if (payment.status !== 'paid') return { outcome: 'not_paid', payment };
  const { amount = payment.amount, currency = payment.currency } = expected;
  if (toCents(amount) !== toCents(payment.amount) || currency !== payment.currency) {
    throw new WrongAmountError(
      `${payment.payment_id}: ${payment.amount} ${payment.currency} were charged instead of ${amount} ${currency}`,
    );
  }
  // Uses the id as the service spells it, so that no payment gets two marks.
  const hasRun = await store.runOnce(payment.payment_id, (transaction) => fulfil(transaction, payment));
  return { outcome: hasRun ? 'fulfilled' : 'already_fulfilled', payment };
}

/** Returns whole cents as text, so that "25", "25.0" and "25.00" are equal without rounding. */
function toCents(amount: string): string {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  if (whole === undefined) throw new WrongAmountError(`${JSON.stringify(amount)} is no amount`);
  return `${whole}${fraction.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '');
}

/**
 * Creates an in-memory store for trials and tests. After a restart, it has no marks and would fulfil orders again.
 * Refuses new payments beyond `maximumPayments`.
 */
export function createMemoryStore(maximumPayments = 10_000): FulfilmentStore {
  const marks = new Map<string, Promise<void>>();
  return {
    async runOnce(paymentId, work) {
      for (let running = marks.get(paymentId); running !== undefined; running = marks.get(paymentId)) {
        const isDone = await running.then(
          () => true,
          () => false,
        );
        if (isDone) return false;
      }
      if (marks.size >= maximumPayments)
        throw new Error(`the memory store holds ${maximumPayments} payments`);
      const running = (async () => work())();
      marks.set(paymentId, running);
      try {
        await running;
        return true;
      } catch (error) {
        marks.delete(paymentId);
        throw error;
      }
    },
  };
}
