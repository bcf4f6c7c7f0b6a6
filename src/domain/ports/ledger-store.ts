import type { Movement } from '../movement.ts';
import type { Deposit, Release, Rescue } from '../payment.ts';
import type { PaymentId } from '../payment-id.ts';
import type { Decide } from './payment-store.ts';

/** A block that was scanned up to. */
export interface BlockReference {
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
}

/** Whose payment something was found for. */
export interface RowOwner {
  readonly paymentId: PaymentId;
  readonly accountId: string;
}

/** What one scan of blocks found, ready to be written. */
export interface ScanRecord {
  /** The cursor the scan started from; the write is refused (throws) when another writer has moved it. */
  readonly from: BlockReference;
  /** The new cursor: the newest scanned block that is final. */
  readonly final: BlockReference;
  /** The newest scanned block. Rows seen above `final` are provisional: the next scan replaces them. */
  readonly scannedTo: number;
  readonly deposits: readonly (Deposit & RowOwner)[];
  readonly releases: readonly (Release & RowOwner)[];
  /** These only go into the book of movements once they are final: no decision depends on them. */
  readonly rescues?: readonly (Rescue & RowOwner)[];
}

/** What is to be recorded of the chain contradicts what is recorded already. Nothing was written. */
export class ScanRefusedError extends Error {
  /** `cursor`: another writer has moved it; `rows`: a final transaction turns up in another block or with other contents. */
  readonly conflict: 'cursor' | 'rows';

  constructor(message: string, conflict: 'cursor' | 'rows') {
    super(message);
    this.conflict = conflict;
  }
}

/** Rows that a reading of the chain found. */
export type FoundOnChain = Pick<ScanRecord, 'deposits' | 'releases' | 'rescues'>;

/**
 * The chain's side of the payments: what the watcher has seen, and how far it has come.
 *
 * Whatever becomes final, and whatever final rows are taken back, is also appended to the book of movements in the
 * same transaction. The book is one chain over all payments: an entry holds the hash of the one before it, and the
 * database refuses to change or remove one.
 */
export interface LedgerStore {
  /** The newest final block that was scanned, or null before the first scan. */
  readCursor(): Promise<BlockReference | null>;
  /** Sets the cursor where none is. */
  startCursor(block: BlockReference): Promise<void>;
  /**
   * In one transaction: replaces all rows in blocks (from.number, scannedTo], moves the cursor (and remembers it as
   * a checkpoint), and decides every payment that has a row above `from.number` before or after. A row is unique by
   * (transaction, log index). Throws `ScanRefusedError`.
   */
  recordScan(scan: ScanRecord, decide: Decide): Promise<void>;
  /** Those of these rows that are not recorded with the same contents. Each list of the result is part of the one given. */
  listMissing<Found extends FoundOnChain>(found: Found): Promise<Found>;
  /**
   * Adds rows that an earlier scan of final blocks missed (a node that lagged behind answers with an empty list).
   * `from` is the cursor that the reading began at; refused (throws) when it is no checkpoint any more, because then
   * the rows are of another chain.
   */
  recordMissed(
    missed: FoundOnChain & Pick<ScanRecord, 'from'>,
    decide: Decide,
  ): Promise<{ readonly added: number }>;
  /** The last checkpoints, newest first. */
  listCheckpoints(limit: number): Promise<readonly BlockReference[]>;
  /** The chain lost final blocks: forgets every row and checkpoint above `block` and starts again from there. */
  rewindTo(block: BlockReference, decide: Decide): Promise<void>;

  /** Entries of the book of movements with numbers above `after`, in their order. */
  listMovements(after: number, limit: number): Promise<readonly Movement[]>;
  /** All entries of one payment, in their order. */
  listMovementsOf(id: PaymentId): Promise<readonly Movement[]>;

  /**
   * The expiry step has dealt with all payments up to here (any text that sorts among ids), '' at first. A decision
   * with `revisitExpiry` moves it back below its payment, in the same transaction.
   */
  readExpiryFrontier(): Promise<string>;
  /**
   * Decides these payments and moves the frontier, in one transaction. The frontier stays where it is when it was
   * moved back since it was read as `from`, and stops below a payment whose decision has `revisitExpiry`.
   */
  advanceExpiryFrontier(
    ids: readonly PaymentId[],
    frontier: { readonly from: string; readonly to: string },
    decide: Decide,
  ): Promise<void>;
}
