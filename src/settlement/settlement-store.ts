import type { Address, DepositFactory } from '../payment/address.ts';
import type { ChainObservations, Payment, PaymentId } from '../payment/payment.ts';
import type { Decide } from '../payment/payment-store.ts';
import type { JournalEntry, MovedRows } from './journal.ts';

/** Settlement terms of payments: a factory and the wallet that receives its fees. */
export interface SettlementRecord extends DepositFactory {
  readonly token: Address;
  /** keccak-256 of the factory's on-chain code, as `0x` and 64 hex digits. */
  readonly factoryCodeHash: string;
  readonly feeWallet: Address;
  readonly lastStartedAtMs: number;
}

/** All settlements that the service was ever started with. Their factories remain watched and published. */
export interface SettlementStore {
  /** Adds the settlement, or moves a known one (same chain, factory and fee wallet) to the front. */
  rememberSettlement(settlement: SettlementRecord): Promise<void>;
  /** Returns settlements, the most recently started first. */
  listSettlements(): Promise<readonly SettlementRecord[]>;
}

export interface BlockReference {
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
}

/** Rows found by one scan, ready to be written. */
export interface ScanRecord extends MovedRows {
  /** Cursor at which the scan started. The write throws if another writer has moved it. */
  readonly from: BlockReference;
  /** New cursor: the newest scanned block that is final. */
  readonly final: BlockReference;
  /** Newest scanned block. Rows above `final` are provisional, and the next scan replaces them. */
  readonly scannedTo: number;
}

/** Thrown if new rows contradict recorded ones, or if another writer has moved the cursor. Nothing was written. */
export class ScanRefusedError extends Error {
  /** `cursor`: another writer moved it. `rows`: a final transaction appears in another block or with other contents. */
  readonly conflict: 'cursor' | 'rows';

  constructor(message: string, conflict: 'cursor' | 'rows' = 'cursor') {
    super(message);
    this.conflict = conflict;
  }
}

/**
 * Deposits, releases and the watcher's cursor. Rows that become final, or are reversed, enter the journal in the same
 * transaction. Each journal entry holds the previous one's hash. The database refuses to change or remove entries.
 */
export interface ObservationStore {
  /** Returns the newest final block that was scanned; null before the first scan. */
  readCursor(): Promise<BlockReference | null>;
  /** Sets the cursor unless one is set. */
  startCursor(block: BlockReference): Promise<void>;
  /**
   * Replaces all rows in blocks (from.number, scannedTo], moves the cursor and stores it as a checkpoint. Decides every
   * payment with an old or new row above `from.number`. All of this is one transaction. A row is unique by
   * (transaction, log index). Throws `ScanRefusedError` if rows contradict recorded ones or the cursor has moved.
   */
  recordScan(scan: ScanRecord, decide: Decide): Promise<{ readonly hasRowsAbove: boolean }>;
  /** Returns recorded rows that this scan would make final but lacks, because they were reorganized or omitted. */
  listVanished(scan: ScanRecord): Promise<MovedRows>;
  /** Returns the given rows that are not recorded with the same contents. */
  listMissing<Found extends MovedRows>(found: Found): Promise<Found>;
  /** Adds rows that a scan of final blocks missed. Throws unless `from`, the cursor at the rescan, is a checkpoint. */
  recordMissed(
    missed: MovedRows & Pick<ScanRecord, 'from'>,
    decide: Decide,
  ): Promise<{ readonly added: number }>;
  /** Returns the last checkpoints, newest first. */
  listCheckpoints(limit: number): Promise<readonly BlockReference[]>;
  /** Removes every row and checkpoint above `block`, the new cursor, and decides the payments that lose rows. */
  rewindTo(block: BlockReference, decide: Decide): Promise<void>;

  /** Returns journal entries numbered above `after`, in order. */
  listEntries(after: number, limit: number): Promise<readonly JournalEntry[]>;
  /** Returns at most 1,000 entries of one payment, numbered above `after`, in order. */
  listEntriesOf(id: PaymentId, after?: number): Promise<readonly JournalEntry[]>;
  /** Returns rows that a view holds only as a sum, after the given ones in chain order; at most 1,000 per table. */
  listFolded(
    id: PaymentId,
    after: Pick<ChainObservations, 'deposits' | 'releases'>,
  ): Promise<Pick<ChainObservations, 'deposits' | 'releases'>>;

  /** Returns the progress of expiry, a text that sorts among ids (initially ''). `revisitExpiry` moves it back. */
  readExpiryWatermark(): Promise<string>;
  /** Decides payments and moves the watermark, in one transaction, unless it was moved back since `from` was read. */
  advanceExpiryWatermark(
    ids: readonly PaymentId[],
    watermark: { readonly from: string; readonly to: string },
    decide: Decide,
  ): Promise<void>;
}

/** Signed version of a relay transaction. A fee bump adds another one with the same nonce. */
export interface RelayAttempt {
  readonly hash: string;
  /** Signed bytes, `0x…`. After a crash, the same bytes are broadcast again. */
  readonly rawTransaction: string;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly signedAtMs: number;
}

/** Relayer's batch in flight, with all of its signed attempts. */
export interface RelayBatch {
  readonly id: number;
  readonly relayer: string;
  readonly nonce: number;
  /** A `self_transfer` carries no payment. It only uses up its nonce, so that later batches can be mined. */
  readonly kind: 'forward' | 'rescue' | 'self_transfer';
  /** Address of a `rescue`'s token, or the zero address for POL; null for other kinds. */
  readonly rescueToken: string | null;
  readonly gasLimit: bigint;
  readonly paymentIds: readonly PaymentId[];
  readonly attempts: readonly RelayAttempt[];
  readonly createdAtMs: number;
}

export interface RelayStore {
  /**
   * Claims due payments for `durationMs` by the store's clock, and returns them by due time. Includes payments due
   * further ahead than any delay, because the clock may have been set back. `openBatch`, not the claim, guarantees that
   * no two batches carry the same payment.
   */
  claimDueReleases(
    relayer: string,
    nowMs: number,
    limit: number,
    durationMs: number,
  ): Promise<readonly Payment[]>;
  dropClaims(relayer: string): Promise<void>;
  /** Returns at most 200 of this relayer's batches in flight, in the order of their unique nonces. */
  listOpenBatchesOf(relayer: string): Promise<readonly RelayBatch[]>;
  /** Returns at most 200 relayers with batches in flight. */
  listRelayersInFlight(): Promise<readonly string[]>;
  /** Returns the nonce after the batches since the last abandoned one (at most 200); null if there are none. */
  findNextNonce(relayer: string): Promise<number | null>;
  /** Returns batches in flight of all relayers, oldest first. */
  listOpenBatches(limit: number): Promise<readonly RelayBatch[]>;
  /** Commits a batch and its first attempt before they are sent. Throws if the relayer has one open at this nonce. */
  openBatch(batch: Omit<RelayBatch, 'id'>, decide: Decide): Promise<RelayBatch>;
  /** Commits another signed attempt (a fee bump) of an open batch before it is broadcast. */
  addAttempt(batchId: number, attempt: RelayAttempt): Promise<void>;
  /**
   * Replaces an open batch in one commit. The replacement has the same relayer and nonce, and has a subset of the
   * payments or is a `self_transfer`. Frees and decides the other payments. Throws `RangeError` for anything else.
   */
  replaceBatch(
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): Promise<RelayBatch>;
  /** Closes a batch whose nonce is used or abandoned, frees its payments and decides them. */
  closeBatch(
    batchId: number,
    outcome: 'resolved' | 'abandoned',
    closedAtMs: number,
    decide: Decide,
  ): Promise<void>;
}

/** Leases that let only one of several processes do a task at a time. */
export interface LeaseStore {
  /** Takes or renews a lease by the store's clock. Returns false while another holder has it. */
  takeLease(name: string, holder: string, durationMs: number): Promise<boolean>;
  releaseLease(name: string, holder: string): Promise<void>;
}
