import { createHash } from 'node:crypto';
import type { Address } from '../payment/address.ts';
import type { ChainPosition, Deposit, PaymentId, Release, Rescue } from '../payment/payment.ts';

/** A deposit, a release to the merchant and to the fee wallet, or the rescue of another token. */
export type JournalEntryKind = 'deposited' | 'forwarded' | 'fee' | 'rescued';

/** One entry of final money on the chain, before it has a number in the journal. */
export interface JournalFacts extends ChainPosition {
  readonly kind: JournalEntryKind;
  readonly paymentId: PaymentId;
  /** Amount in the token's smallest unit. Negative if a reorganization reverses a final amount. */
  readonly units: bigint;
  /** Null for the payment token; otherwise the token, or the zero address for POL. */
  readonly token: Address | null;
}

/** A journal entry. It is never changed or removed. */
export interface JournalEntry extends JournalFacts {
  /** Number of the entry; numbers start at 1 and have no gaps. */
  readonly number: number;
  readonly recordedAtMs: number;
  /** Hash of the preceding entry; 64 zeros for the first one. */
  readonly previousHash: string;
  /** SHA-256 of all other fields, 64 hex digits. */
  readonly hash: string;
}

/** Newest entry of the journal, to which the next one is chained. */
export type JournalHead = Pick<JournalEntry, 'number' | 'hash'>;

export const NO_MOVEMENTS: JournalHead = { number: 0, hash: '0'.repeat(64) };

export interface RowOwner {
  readonly paymentId: PaymentId;
}

export interface MovedRows {
  readonly deposits: readonly (Deposit & RowOwner)[];
  readonly releases: readonly (Release & RowOwner)[];
  /** Recorded only in the journal, once final: no decision depends on them. */
  readonly rescues?: readonly (Rescue & RowOwner)[];
}

interface ChainRows {
  readonly deposits: readonly ChainPosition[];
  readonly releases: readonly ChainPosition[];
  readonly rescues?: readonly ChainPosition[];
}

export function filterRows<Rows extends ChainRows>(
  rows: Rows,
  isKept: (row: ChainPosition) => boolean,
): Rows {
  const { deposits, releases, rescues } = rows;
  return {
    ...rows,
    deposits: deposits.filter(isKept),
    releases: releases.filter(isKept),
    ...(rescues && { rescues: rescues.filter(isKept) }),
  };
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
  { paymentId, transactionHash, logIndex, blockNumber }: ChainPosition & RowOwner,
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

/** Text that identifies an entry by its position on the chain and its kind. */
export function placeOfEntry({ kind, token, transactionHash, logIndex, blockNumber }: JournalFacts): string {
  return `${kind} ${token ?? ''} ${transactionHash}:${logIndex} in block ${blockNumber}`;
}
