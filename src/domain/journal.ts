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
