import type { Payment, PaymentId } from '../payment/payment.ts';
import type { Table } from './columns.ts';
import type { Script } from './scripts.ts';

/**
 * A feature's data in the store. Its steps run in transactions of the core. They write rows of the feature and events
 * of the log, and must not change or refuse what the core does.
 */
export interface StoredFeature {
  /** Schema of the feature's tables, in the same form as the core's. */
  readonly schema: URL;
  /** The feature's tables, each after those that its rows refer to. */
  readonly tables: readonly Table[];
  paymentsMoved?(changes: readonly MovedPayment[]): Script<void>;
  /** Runs after the chain has lost the final blocks above this one. */
  revertedAbove?(blockNumber: number, nowMs: number): Script<void>;
  /** Runs once in a restored database, before the first task. */
  restored?(nowMs: number): Script<void>;
  memberRemoved?(accountId: string, userId: string): Script<void>;
  emailErased?(id: PaymentId, email: string): Script<void>;
  /** Lock that an erasure takes before its rows, in the order in which the feature's own transactions take them. */
  readonly erasureLock?: string;
  /** Column with other personal data, which is emptied with the email address. Its rows have the payment's id. */
  readonly personal?: { readonly table: Table; readonly column: string };
}

export interface MovedPayment {
  readonly before: Payment;
  readonly after: Payment;
}
