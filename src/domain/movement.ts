import { createHash } from 'node:crypto';
import type { ChainPosition, Deposit, Release, Rescue } from './payment.ts';
import type { PaymentId } from './payment-id.ts';
import type { Address } from './payout-address.ts';

/** Where money went: to the deposit address, from there to the merchant and the fee wallet, or what was no payment. */
export type MovementKind = 'deposited' | 'forwarded' | 'fee' | 'rescued';

/** One movement of money that is final on the chain, before it has its place in the book. */
export interface MovementFacts {
  readonly kind: MovementKind;
  readonly paymentId: PaymentId;
  /** In the token's smallest unit. Negative where the chain took back what it had called final. */
  readonly units: bigint;
  /** Null for the payment token; else the token, or the zero address for the chain's own coin. */
  readonly token: Address | null;
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
}

/** An entry of the book of movements: never changed and never removed. */
export interface Movement extends MovementFacts {
  /** From 1, without gaps. */
  readonly number: number;
  readonly recordedAtMs: number;
  /** The hash of the entry before it; 64 zeros for the first one. */
  readonly previousHash: string;
  /** SHA-256 of everything else in it, 64 hex digits. */
  readonly hash: string;
}

/** The end of the book: what the next entry follows on. */
export type MovementHead = Pick<Movement, 'number' | 'hash'>;

/** The end of an empty book. */
export const NO_MOVEMENTS: MovementHead = { number: 0, hash: '0'.repeat(64) };

type OfPayment<Row> = Row & { readonly paymentId: PaymentId };

/** What was found on the chain, with the payments they belong to. */
export interface MovedRows {
  readonly deposits: readonly OfPayment<Deposit>[];
  readonly releases: readonly OfPayment<Release>[];
  readonly rescues?: readonly OfPayment<Rescue>[];
}

/** The movements that this is made of; nothing that is no money. */
export function movementsOf(rows: MovedRows): MovementFacts[] {
  const movements: MovementFacts[] = [];
  for (const deposit of rows.deposits) movements.push(factsOf(deposit, 'deposited', deposit.units));
  for (const release of rows.releases) {
    movements.push(factsOf(release, 'forwarded', release.toMerchantUnits));
    movements.push(factsOf(release, 'fee', release.feeUnits));
  }
  for (const rescue of rows.rescues ?? []) {
    movements.push({ ...factsOf(rescue, 'rescued', rescue.units), token: rescue.token });
  }
  return movements
    .filter(({ units }) => units !== 0n)
    .sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex);
}

function factsOf(
  { paymentId, transactionHash, logIndex, blockNumber }: OfPayment<ChainPosition>,
  kind: MovementKind,
  units: bigint,
): MovementFacts {
  return { kind, paymentId, units, token: null, transactionHash, logIndex, blockNumber };
}

/** What undoes movements in the book: the same again with the opposite sign. */
export function takenBack(movements: readonly MovementFacts[]): MovementFacts[] {
  return movements.map((movement) => ({ ...movement, units: -movement.units }));
}

/** The entries that these movements become at the end of a book. */
export function entriesAfter(
  head: MovementHead,
  movements: readonly MovementFacts[],
  recordedAtMs: number,
): Movement[] {
  let { number, hash: previousHash } = head;
  return movements.map((facts) => {
    const entry = { ...facts, number: ++number, recordedAtMs, previousHash };
    const hash = hashOfMovement(entry);
    previousHash = hash;
    return { ...entry, hash };
  });
}

/** The hash that belongs to an entry's contents. */
export function hashOfMovement(entry: Omit<Movement, 'hash'>): string {
  // A list in JSON can be read in one way only, whatever the texts in it are.
  const contents = JSON.stringify([
    'card-checkout movement v1',
    ...[entry.number, entry.previousHash, entry.recordedAtMs, entry.kind, entry.paymentId],
    ...[entry.units.toString(), entry.token, entry.transactionHash, entry.logIndex, entry.blockNumber],
  ]);
  return createHash('sha256').update(contents).digest('hex');
}

/** What the entries of a payment come to: one movement for each place and kind that was not taken back. */
export function netMovements(entries: readonly MovementFacts[]): MovementFacts[] {
  const sums = new Map<string, MovementFacts>();
  for (const entry of entries) {
    const key = placeOfMovement(entry);
    sums.set(key, { ...entry, units: (sums.get(key)?.units ?? 0n) + entry.units });
  }
  return [...sums.values()].filter(({ units }) => units !== 0n);
}

/** Where on the chain a movement happened and of which kind it is: once there is nothing else of the same. */
export function placeOfMovement({
  kind,
  token,
  transactionHash,
  logIndex,
  blockNumber,
}: MovementFacts): string {
  return `${kind} ${token ?? ''} ${transactionHash}:${logIndex} in block ${blockNumber}`;
}

/** Whether a movement is among entries and was not taken back. */
export function isEntered(entries: readonly MovementFacts[], movement: MovementFacts): boolean {
  const place = placeOfMovement(movement);
  return netMovements(entries).some((entry) => placeOfMovement(entry) === place);
}
