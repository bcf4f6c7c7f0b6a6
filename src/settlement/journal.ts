import { createHash } from 'node:crypto';
import type { Address } from '../payment/address.ts';
import type { ChainPosition, Deposit, PaymentId, Release, Rescue } from '../payment/payment.ts';

/**
 * Kinds of journal entries: a deposit, a release to the merchant and the fee wallet, or the rescue of another token.
 */
export type JournalEntryKind = 'deposited' | 'forwarded' | 'fee' | 'rescued';

/** One entry of final money on the chain, before it has a number in the journal. */
export interface JournalFacts extends ChainPosition {
  readonly kind: JournalEntryKind;
  readonly paymentId: PaymentId;
  /** Amount in the token's smallest unit. Negative where a reorganization reverses a final amount. */
  readonly units: bigint;
  /** Null for the payment token; otherwise the token, or the zero address for POL. */
  readonly token: Address | null;
}

/** A journal entry, which is never changed or removed. */
export interface JournalEntry extends JournalFacts {
  /** Number of the entry, from 1 without gaps. */
  readonly number: number;
  readonly recordedAtMs: number;
  /** Hash of the preceding entry; 64 zeros for the first one. */
  readonly previousHash: string;
  /** SHA-256 of all other fields, 64 hex digits. */
  readonly hash: string;
}

/** Newest entry of the journal, to which the next one is chained. */
export type JournalHead = Pick<JournalEntry, 'number' | 'hash'>;

/** Head of an empty journal. */
export const NO_MOVEMENTS: JournalHead = { number: 0, hash: '0'.repeat(64) };

type OfPayment<Row> = Row & { readonly paymentId: PaymentId };

/** Rows found on the chain, with their payments. */
export interface MovedRows {
  readonly deposits: readonly OfPayment<Deposit>[];
  readonly releases: readonly OfPayment<Release>[];
  readonly rescues?: readonly OfPayment<Rescue>[];
}

/** Entries for these rows, in chain order and without zero amounts. */
export function entriesOf(rows: MovedRows): JournalFacts[] {
  const entries: JournalFacts[] = [];
  for (const deposit of rows.deposits) entries.push(factsOf(deposit, 'deposited', deposit.units));
  for (const release of rows.releases) {
    entries.push(factsOf(release, 'forwarded', release.toMerchantUnits));
    entries.push(factsOf(release, 'fee', release.feeUnits));
  }
  for (const rescue of rows.rescues ?? []) {
    entries.push({ ...factsOf(rescue, 'rescued', rescue.units), token: rescue.token });
  }
  return entries
    .filter(({ units }) => units !== 0n)
    .sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex);
}

function factsOf(
  { paymentId, transactionHash, logIndex, blockNumber }: OfPayment<ChainPosition>,
  kind: JournalEntryKind,
  units: bigint,
): JournalFacts {
  return { kind, paymentId, units, token: null, transactionHash, logIndex, blockNumber };
}

/** Entries that reverse others: the same with the opposite sign. */
export function takenBack(entries: readonly JournalFacts[]): JournalFacts[] {
  return entries.map((entry) => ({ ...entry, units: -entry.units }));
}

/** Numbered and hashed entries to append after a journal head. */
export function entriesAfter(
  head: JournalHead,
  entries: readonly JournalFacts[],
  recordedAtMs: number,
): JournalEntry[] {
  let { number, hash: previousHash } = head;
  return entries.map((facts) => {
    const entry = { ...facts, number: ++number, recordedAtMs, previousHash };
    const hash = hashOfEntry(entry);
    previousHash = hash;
    return { ...entry, hash };
  });
}

/** Hash of an entry's contents. */
export function hashOfEntry(entry: Omit<JournalEntry, 'hash'>): string {
  // A JSON list is unambiguous, whatever its texts contain.
  const contents = JSON.stringify([
    'card-checkout entry v1',
    entry.number,
    entry.previousHash,
    entry.recordedAtMs,
    entry.kind,
    entry.paymentId,
    entry.units.toString(),
    entry.token,
    entry.transactionHash,
    entry.logIndex,
    entry.blockNumber,
  ]);
  return createHash('sha256').update(contents).digest('hex');
}

/** Net entries of a payment: one for each position and kind that was not reversed. */
export function netEntries(entries: readonly JournalFacts[]): JournalFacts[] {
  const sums = new Map<string, JournalFacts>();
  for (const entry of entries) {
    const key = placeOfEntry(entry);
    sums.set(key, { ...entry, units: (sums.get(key)?.units ?? 0n) + entry.units });
  }
  return [...sums.values()].filter(({ units }) => units !== 0n);
}

/** Identifies an entry by its position on the chain and its kind. */
export function placeOfEntry({ kind, token, transactionHash, logIndex, blockNumber }: JournalFacts): string {
  return `${kind} ${token ?? ''} ${transactionHash}:${logIndex} in block ${blockNumber}`;
}

/** All discrepancies that `verify` reports; the documentation prints the same table. */
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
  refunded_too_much: 'Paid refunds exceed final deposits.',
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
  refund_not_on_chain: 'The transfer of a paid refund is not on the chain.',
  held: 'The balance of the deposit address differs from deposits less releases.',
} as const satisfies Record<string, string>;

export type DiscrepancyKind = keyof typeof discrepancyKinds;

/** One discrepancy. */
export interface Discrepancy {
  /** Null where no single payment is affected. */
  readonly paymentId: string | null;
  readonly kind: DiscrepancyKind;
  readonly expected: string;
  readonly found: string;
}
