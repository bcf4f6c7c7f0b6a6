import type { Payment, PaymentId } from '../payment/payment.ts';
import type { Table } from './columns.ts';
import type { Script } from './scripts.ts';

/**
 * A feature's data in the store. Its steps run within transactions of the core. They may write the feature's rows and
 * payment events, but must neither change the core's rows nor throw.
 */
export interface StoredFeature {
  /** Schema of the feature's tables, in the same form as the core's. */
  readonly schema: URL;
  /** The feature's tables, each after the tables that it references. */
  readonly tables: readonly Table[];
  paymentsMoved?(changes: readonly MovedPayment[]): Script<void>;
  /** Runs after a rewind, in which the final blocks above this one were lost. */
  revertedAbove?(blockNumber: number, nowMs: number): Script<void>;
  /** Runs once in a restored database, when the chain's height is recorded. */
  restored?(nowMs: number): Script<void>;
  memberRemoved?(accountId: string, userId: string): Script<void>;
  emailErased?(id: PaymentId, email: string): Script<void>;
  /** Lock that an erasure takes before it locks rows, in the same order as the feature's own transactions. */
  readonly erasureLock?: string;
  /** Column with other personal data, erased with the email address. Its table must have a `payment_id`. */
  readonly personal?: { readonly table: Table; readonly column: string };
}

export interface MovedPayment {
  readonly before: Payment;
  readonly after: Payment;
}
