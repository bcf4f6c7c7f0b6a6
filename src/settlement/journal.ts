import { createHash } from 'node:crypto';
import type { Address } from '../payment/address.ts';
import type { ChainPosition, Deposit, PaymentId, Release, Rescue } from '../payment/payment.ts';

/** Deposit, merchant's or fee wallet's part of a release, or rescue of another token. */
export type JournalEntryKind = 'deposited' | 'forwarded' | 'fee' | 'rescued';

/** Final movement of money on the chain, before it has a number in the journal. */
export interface JournalFacts extends ChainPosition {
  readonly kind: JournalEntryKind;
  readonly paymentId: PaymentId;
  /** Amount in the token's smallest unit. Negative if a reorganization reverses a final amount. */
  readonly units: bigint;
  /** Token's address, or the zero address for POL; null for the payment token. */
  readonly token: Address | null;
}

/** Journal entry, which is never changed or removed. */
export interface JournalEntry extends JournalFacts {
  /** Sequence number, from 1 and without gaps. */
  readonly number: number;
  readonly recordedAtMs: number;
  /** Hash of the preceding entry; 64 zeros for the first one. */
  readonly previousHash: string;
  /** SHA-256 of all other fields, as 64 hex digits. */
  readonly hash: string;
}

/** Newest journal entry, whose hash the next entry includes. */
export type JournalHead = Pick<JournalEntry, 'number' | 'hash'>;

export const NO_MOVEMENTS: JournalHead = { number: 0, hash: '0'.repeat(64) };

export interface RowOwner {
  readonly paymentId: PaymentId;
}

export interface MovedRows {
  readonly deposits: readonly (Deposit & RowOwner)[];
  readonly releases: readonly (Release & RowOwner)[];
  /** Recorded only in the journal, and only once final, because no decision depends on them. */
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

/** Returns the entries for these rows, in chain order and without zero amounts. */
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

/** Returns entries that reverse the given ones. */
export function takenBack(entries: readonly JournalFacts[]): JournalFacts[] {
  return entries.map((entry) => ({ ...entry, units: -entry.units }));
}

/** Numbers and hashes entries to append after a journal head. */
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
  // A JSON list is unambiguous, whatever strings it contains.
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

/** Sums entries by position and kind, and leaves out those that were reversed. */
export function netEntries(entries: readonly JournalFacts[]): JournalFacts[] {
  const sums = new Map<string, JournalFacts>();
  for (const entry of entries) {
    const key = placeOfEntry(entry);
    sums.set(key, { ...entry, units: (sums.get(key)?.units ?? 0n) + entry.units });
  }
  return [...sums.values()].filter(({ units }) => units !== 0n);
}

/** Returns a text that identifies an entry by its kind, token and position on the chain. */
export function placeOfEntry({ kind, token, transactionHash, logIndex, blockNumber }: JournalFacts): string {
  return `${kind} ${token ?? ''} ${transactionHash}:${logIndex} in block ${blockNumber}`;
}
