/** Everything that `verify` can find wrong, and what it means. The documentation prints the same table. */
export const discrepancyKinds = {
  movement_number: 'An entry of the book of movements is missing or has another number than its place.',
  movement_chain: 'An entry does not follow on the one before it: something was exchanged or taken out.',
  movement_hash: 'An entry has other contents than when it was written.',
  movement_of_nobody: 'An entry belongs to a payment that does not exist.',
  movement_missing: 'A final deposit or release is not in the book.',
  movement_unfounded: 'The book has a movement that is no recorded deposit or release.',
  movement_amount: 'The book has another amount than the recorded deposit or release.',
  fee: 'The fee of a release is neither that of the payment’s terms nor nothing.',
  released_too_much: 'More was released than had been deposited.',
  amounts:
    'The amounts in the payment are not those that the book came to, or the money behind them is gone.',
  transactions: 'The payment names a transaction that is none of its deposits or releases.',
  state: 'The payment’s state is not the one that its deposits and releases call for.',
  release_plan: 'What is held is not planned for release as it should be.',
  relay_batch: 'The payment waits for a batch that is not under way, or that does not carry it.',
  deposit_address: 'The deposit address is not the one that the payment’s terms give.',
  unreadable: 'The payment has contents that cannot be; see the message.',
  webhook_missing: 'The payment is paid and has no webhook.',
  webhook_unfounded: 'The payment is not paid and has a webhook.',
  webhook_contents: 'The webhook says something else than the payment.',
  final_block: 'The chain has another block than the one that was scanned as final.',
  not_on_chain: 'A recorded deposit or release is not on the chain.',
  chain_amount: 'The chain has another amount than the recorded deposit or release.',
  not_recorded: 'The chain has a deposit or release that is not recorded.',
  held: 'The deposit address holds another amount on the chain than deposits less releases.',
} as const satisfies Record<string, string>;

export type DiscrepancyKind = keyof typeof discrepancyKinds;

/** One thing that does not agree. */
export interface Discrepancy {
  /** Null where it is about no single payment. */
  readonly paymentId: string | null;
  readonly kind: DiscrepancyKind;
  readonly expected: string;
  readonly found: string;
}
