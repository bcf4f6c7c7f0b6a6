import type { Client, PaymentQuery } from './client.ts';
import { CardCheckoutError } from './errors.ts';
import type { PaymentStatus } from './wire.ts';

/**
 * Where it is remembered that a payment was fulfilled: your database.
 *
 * `runOnce` opens a transaction, sets a mark for the payment that can exist only once (a unique row, or an order's
 * `fulfilled_at` that is still empty), and runs `work` in the same transaction if it could. Mark and work are committed
 * together or not at all; that alone makes it once, whatever crashes when. It answers whether `work` ran.
 */
export interface FulfilmentStore<Transaction = void> {
  runOnce(paymentId: string, work: (transaction: Transaction) => Promise<void> | void): Promise<boolean>;
}

export interface FulfilOnceOptions<Transaction> {
  readonly client: { readonly payments: Pick<Client['payments'], 'retrieve'> };
  /** The payment of the order: its id, or its token. */
  readonly payment: PaymentQuery | string;
  /** What the order says was to be paid; when the service says otherwise, nothing is fulfilled. */
  readonly expected?: { readonly amount?: string; readonly currency?: string };
  /**
   * Fulfils the order, by writing to the transaction it is given: what it writes is there exactly once. Anything that
   * reaches outside (mail, a parcel) is put into a list in the same transaction and done from there.
   */
  readonly fulfil: (transaction: Transaction, payment: PaymentStatus) => Promise<void> | void;
}

export interface Fulfilment {
  /** `fulfilled` by this call, or before; or `not_paid`: then nothing was done. */
  readonly outcome: 'fulfilled' | 'already_fulfilled' | 'not_paid';
  readonly payment: PaymentStatus;
}

/** The service says that something else was paid than the order asked for. */
export class WrongAmountError extends CardCheckoutError {
  override readonly name = 'WrongAmountError';
}

/**
 * Confirms with the service that the payment is paid, and then fulfils its order once: under duplicates, under webhook
 * and polling at the same time, and after a crash, when the next call does what the crash undid.
 *
 * @throws ApiError, ConnectionError when it cannot be confirmed; WrongAmountError; and whatever store and `fulfil` throw.
 *   Then nothing was fulfilled, and the call may be made again.
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
  // The id from the service, in its one spelling: a mark must not exist twice because an id was written differently.
  const hasRun = await store.runOnce(payment.payment_id, (transaction) => fulfil(transaction, payment));
  return { outcome: hasRun ? 'fulfilled' : 'already_fulfilled', payment };
}

/** Whole cents as text, so that "25", "25.0" and "25.00" are the same and no rounding takes place. */
function toCents(amount: string): string {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  if (whole === undefined) throw new WrongAmountError(`${JSON.stringify(amount)} is no amount`);
  return `${whole}${fraction.padEnd(2, '0')}`.replace(/^0+(?=\d)/, '');
}

/**
 * Remembers in this process alone: to try things out, and for tests. A restart forgets it, and fulfils again.
 * It refuses new payments when it holds `maximumPayments`.
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
