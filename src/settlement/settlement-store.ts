import type { Address, DepositFactory } from '../payment/address.ts';
import type { ChainObservations, Payment, PaymentId } from '../payment/payment.ts';
import type { Decide } from '../payment/payment-store.ts';
import type { JournalEntry, MovedRows } from './journal.ts';

/** Settlement terms of payments: a factory and the wallet that receives its fees. */
export interface SettlementRecord extends DepositFactory {
  readonly token: Address;
  /** keccak-256 of the factory's code on chain, `0x` and 64 digits. */
  readonly factoryCodeHash: string;
  readonly feeWallet: Address;
  readonly lastStartedAtMs: number;
}

/** All settlements that this service has ever been started with; their factories remain watched and published. */
export interface SettlementStore {
  /** Adds the settlement, or moves a known one (same chain, factory and fee wallet) to the front. */
  rememberSettlement(settlement: SettlementRecord): Promise<void>;
  /** Most recently started first. */
  listSettlements(): Promise<readonly SettlementRecord[]>;
}

export interface BlockReference {
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
}

/** Rows found by one scan of blocks, ready to be written. */
export interface ScanRecord extends MovedRows {
  /** Cursor at which the scan started; the write throws when another writer has moved it. */
  readonly from: BlockReference;
  /** New cursor: the newest scanned block that is final. */
  readonly final: BlockReference;
  /** Newest scanned block. Rows above `final` are provisional: the next scan replaces them. */
  readonly scannedTo: number;
}

/** New rows of the chain contradict recorded ones, or another writer has moved the cursor. Nothing was written. */
export class ScanRefusedError extends Error {
  /** `cursor`: another writer moved it; `rows`: a final transaction appears in another block or with other contents. */
  readonly conflict: 'cursor' | 'rows';

  constructor(message: string, conflict: 'cursor' | 'rows' = 'cursor') {
    super(message);
    this.conflict = conflict;
  }
}

/**
 * Deposits, releases and the watcher's cursor. Rows that become final, or are reversed, enter the journal in the same
 * transaction. Each entry holds the hash of the one before, and the database refuses to change or remove one.
 */
export interface ObservationStore {
  /** Newest final block that was scanned; null before the first scan. */
  readCursor(): Promise<BlockReference | null>;
  /** Sets the cursor unless one is set. */
  startCursor(block: BlockReference): Promise<void>;
  /**
   * In one transaction: replaces all rows in blocks (from.number, scannedTo], moves the cursor, stores it as a
   * checkpoint, and decides every payment that has a row above `from.number` before or after. A row is unique by
   * (transaction, log index). Throws `ScanRefusedError` if rows contradict recorded ones or the cursor has moved.
   */
  recordScan(scan: ScanRecord, decide: Decide): Promise<{ readonly hasRowsAbove: boolean }>;
  /** Recorded rows that would become final with this scan, but that it lacks: reorganized, or left out. */
  listVanished(scan: ScanRecord): Promise<MovedRows>;
  /** Rows that are not recorded with the same contents. Each list of the result is part of the given one. */
  listMissing<Found extends MovedRows>(found: Found): Promise<Found>;
  /** Adds rows that a scan of final blocks missed. Throws unless `from`, the reading's cursor, is a checkpoint. */
  recordMissed(
    missed: MovedRows & Pick<ScanRecord, 'from'>,
    decide: Decide,
  ): Promise<{ readonly added: number }>;
  /** The last checkpoints, newest first. */
  listCheckpoints(limit: number): Promise<readonly BlockReference[]>;
  /** Removes every row and checkpoint above `block`, the new cursor, and decides the payments that lose rows. */
  rewindTo(block: BlockReference, decide: Decide): Promise<void>;

  /** Journal entries with numbers above `after`, in order. */
  listEntries(after: number, limit: number): Promise<readonly JournalEntry[]>;
  /** Entries of one payment with numbers above `after`, in order, at most 1,000. */
  listEntriesOf(id: PaymentId, after?: number): Promise<readonly JournalEntry[]>;
  /** Rows that a view contains only as a sum, after the last given ones in chain order; at most 1,000 of each table. */
  listFolded(
    id: PaymentId,
    after: Pick<ChainObservations, 'deposits' | 'releases'>,
  ): Promise<Pick<ChainObservations, 'deposits' | 'releases'>>;

  /** Progress of expiry: any text that sorts among ids, initially ''. A decision with `revisitExpiry` moves it back. */
  readExpiryWatermark(): Promise<string>;
  /** Decides payments and moves the watermark, in one transaction, unless it was moved back since `from` was read. */
  advanceExpiryWatermark(
    ids: readonly PaymentId[],
    watermark: { readonly from: string; readonly to: string },
    decide: Decide,
  ): Promise<void>;
}

/** One signed form of a relay transaction; a fee bump adds another with the same nonce. */
export interface RelayAttempt {
  readonly hash: string;
  /** Signed bytes, `0x…`; after a crash the same bytes are broadcast again. */
  readonly rawTransaction: string;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly signedAtMs: number;
}

/** A relayer's batch in flight: its nonce, payments, and every signed attempt. */
export interface RelayBatch {
  readonly id: number;
  readonly relayer: string;
  readonly nonce: number;
  /** A `self_transfer` carries no payment; it uses up its nonce, so that later batches can be mined. */
  readonly kind: 'forward' | 'rescue' | 'self_transfer';
  /** Token of a `rescue`: its address, or the zero address for POL. */
  readonly rescueToken: string | null;
  readonly gasLimit: bigint;
  readonly paymentIds: readonly PaymentId[];
  readonly attempts: readonly RelayAttempt[];
  readonly createdAtMs: number;
}

export interface RelayStore {
  /**
   * Claims due payments, for `durationMs` by the store's clock, and returns them by due time. Includes those due
   * further ahead than any delay, as after the clock was set back. `openBatch` guarantees that no two batches carry
   * the same payment.
   */
  claimDueReleases(
    relayer: string,
    nowMs: number,
    limit: number,
    durationMs: number,
  ): Promise<readonly Payment[]>;
  dropClaims(relayer: string): Promise<void>;
  /** Batches in flight of this relayer, in order of their unique nonces. At most 200. */
  listOpenBatchesOf(relayer: string): Promise<readonly RelayBatch[]>;
  /** Relayers with batches in flight. At most 200. */
  listRelayersInFlight(): Promise<readonly string[]>;
  /** Nonce after the highest of the batches since the last abandoned one (at most 200). Null if there are none. */
  findNextNonce(relayer: string): Promise<number | null>;
  /** Batches in flight of all relayers, oldest first. */
  listOpenBatches(limit: number): Promise<readonly RelayBatch[]>;
  /** Commits a batch and its first attempt, before it is sent. Throws if the relayer has an open one at this nonce. */
  openBatch(batch: Omit<RelayBatch, 'id'>, decide: Decide): Promise<RelayBatch>;
  /** Commits another signed attempt (fee bump) of an open batch, before it is broadcast. */
  addAttempt(batchId: number, attempt: RelayAttempt): Promise<void>;
  /**
   * Replaces an open batch in one commit: same relayer and nonce, and a subset of its payments or a `self_transfer`.
   * Frees and decides the others. Throws `RangeError` for any other replacement.
   */
  replaceBatch(
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): Promise<RelayBatch>;
  /** Closes a batch whose nonce is used or abandoned: frees its payments and decides them. */
  closeBatch(
    batchId: number,
    outcome: 'resolved' | 'abandoned',
    closedAtMs: number,
    decide: Decide,
  ): Promise<void>;
}

/** Leases that let only one of several processes do a task at a time. */
export interface LeaseStore {
  /** Takes a free or expired lease, or renews the holder's, by the store's clock. False while another holder has it. */
  takeLease(name: string, holder: string, durationMs: number): Promise<boolean>;
  releaseLease(name: string, holder: string): Promise<void>;
}
