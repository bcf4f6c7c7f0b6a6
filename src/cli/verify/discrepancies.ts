/** Discrepancies that `verify` reports for the core. Each feature defines its own. */
export const discrepancyKinds = {
  journal_number: 'A journal entry is missing, or its number does not match its position.',
  journal_chain:
    'An entry does not contain the hash of the entry before it: an entry was replaced or removed.',
  journal_hash: 'The contents of an entry do not match its hash.',
  journal_orphan: 'An entry belongs to a payment that does not exist.',
  journal_missing: 'A final deposit or release is not in the journal.',
  journal_unfounded: 'A journal entry matches no recorded deposit or release.',
  journal_amount: 'The amount of a journal entry differs from the recorded deposit or release.',
  fee: 'The fee of a release is neither the fee of the payment’s terms nor zero.',
  released_too_much: 'Releases exceed deposits.',
  amounts: 'The amounts of the payment differ from the journal, or the money behind them is gone.',
  transactions: 'The payment names a transaction that is not one of its deposits or releases.',
  state: 'The payment’s state does not follow from its deposits and releases.',
  release_plan: 'The release of the held amount is not scheduled correctly.',
  relay_batch: 'The payment waits for a batch that is not open or does not include it.',
  terms: 'The amounts or the paid threshold of the payment do not follow from its terms and sessions.',
  payment_missing: 'A payment has a history of states, and is not there.',
  deposit_address: 'The deposit address does not follow from the payment’s terms.',
  unreadable: 'The payment has impossible contents; see the message.',
  webhook_missing: 'The payment is paid and has no webhook.',
  webhook_unfounded: 'The payment is not paid and has a webhook.',
  webhook_contents: 'The webhook’s contents, or the host it is for, differ from the payment.',
  webhook_status: 'The status of the webhook contradicts its record: it could be sent again, or never.',
  final_block: 'The chain has a different block than the one scanned as final.',
  not_on_chain: 'A recorded deposit or release is not on the chain.',
  chain_amount: 'The amount on the chain differs from the recorded deposit or release.',
  not_recorded: 'The chain has a deposit or release that is not in the database.',
  held: 'The balance of the deposit address differs from deposits less releases.',
} as const satisfies Record<string, string>;

export type DiscrepancyKind = keyof typeof discrepancyKinds;

export interface Discrepancy {
  /** Payment id; null if the discrepancy does not concern a single payment. */
  readonly paymentId: string | null;
  /** A `DiscrepancyKind`, or a kind that a feature defines. */
  readonly kind: string;
  readonly expected: string;
  readonly found: string;
}

export type Report = (discrepancy: Discrepancy) => void;

export type Findings = ReturnType<typeof createFindings>;

export function createFindings(paymentId: string) {
  const found: Discrepancy[] = [];
  const addAny = (kind: string, expected: string, actual: string) =>
    void found.push({ paymentId, kind, expected, found: actual });
  const add: (kind: DiscrepancyKind, expected: string, actual: string) => void = addAny;
  return {
    found: found as readonly Discrepancy[],
    add,
    addAny,
    compare(kind: DiscrepancyKind, expected: string, actual: string): void {
      if (expected !== actual) add(kind, expected, actual);
    },
  };
}
