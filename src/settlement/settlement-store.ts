import type { DepositFactory } from '../payment/deposit-address.ts';
import type { ChainObservations, Deposit, Payment, PaymentId, Release, Rescue } from '../payment/payment.ts';
import type { Decide } from '../payment/payment-store.ts';
import type { Address } from '../payment/payout-address.ts';
import type { WaitingWebhook, Webhook, WebhookResult } from '../webhooks/webhook.ts';
import type { JournalEntry, MovedRows } from './journal.ts';

/** Settlement terms that payments were made with: a factory and the wallet that its fees go to. */
export interface SettlementRecord extends DepositFactory {
  readonly token: Address;
  /** keccak-256 of the factory's code on chain, `0x` and 64 digits. */
  readonly factoryCodeHash: string;
  readonly feeWallet: Address;
  readonly lastStartedAtMs: number;
}

/**
 * Every settlement this service was ever started with. Payments keep what they were made with, so earlier factories
 * are watched and published as well, for as long as the data lives.
 */
export interface SettlementStore {
  /** Adds the settlement, or moves a known one (same chain, factory and fee wallet) to the front. */
  rememberSettlement(settlement: SettlementRecord): Promise<void>;
  /** The one started last first. */
  listSettlements(): Promise<readonly SettlementRecord[]>;
}

/** A block that was scanned up to. */
export interface BlockReference {
  readonly number: number;
  readonly hash: string;
  readonly timestampMs: number;
}

/** The payment that a found row belongs to. */
export interface RowOwner {
  readonly paymentId: PaymentId;
}

/** The rows found by one scan of blocks, ready to be written. */
export interface ScanRecord {
  /** The cursor the scan started from; the write is refused (throws) when another writer has moved it. */
  readonly from: BlockReference;
  /** The new cursor: the newest scanned block that is final. */
  readonly final: BlockReference;
  /** The newest scanned block. Rows seen above `final` are provisional: the next scan replaces them. */
  readonly scannedTo: number;
  readonly deposits: readonly (Deposit & RowOwner)[];
  readonly releases: readonly (Release & RowOwner)[];
  /** These only go into the journal once they are final: no decision depends on them. */
  readonly rescues?: readonly (Rescue & RowOwner)[];
}

/** Thrown when new rows of the chain contradict recorded ones. Nothing was written. */
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
 * Observations of the chain: the deposits and releases that the watcher has seen, and its cursor.
 *
 * Rows that become final, and final rows that are taken back, are also appended to the journal in the same
 * transaction. The journal is one chain over all payments: an entry holds the hash of the one before it, and the
 * database refuses to change or remove one.
 */
export interface ObservationStore {
  /** The newest final block that was scanned, or null before the first scan. */
  readCursor(): Promise<BlockReference | null>;
  /** Sets the cursor where none is. */
  startCursor(block: BlockReference): Promise<void>;
  /**
   * In one transaction: replaces all rows in blocks (from.number, scannedTo], moves the cursor (and remembers it as
   * a checkpoint), and decides every payment that has a row above `from.number` before or after. A row is unique by
   * (transaction, log index). Resolves with whether there were rows above `scannedTo`, which stay. Throws
   * `ScanRefusedError`.
   */
  recordScan(scan: ScanRecord, decide: Decide): Promise<{ readonly hasRowsAbove: boolean }>;
  /**
   * Recorded rows in the blocks that become final with this scan, of transactions that it has nowhere: a reorganization
   * dropped them, or the endpoint left them out.
   */
  listVanished(scan: ScanRecord): Promise<MovedRows>;
  /** The given rows that are not recorded with the same contents. Each list of the result is part of the one given. */
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

  /** Entries of the journal with numbers above `after`, in their order. */
  listEntries(after: number, limit: number): Promise<readonly JournalEntry[]>;
  /** Entries of one payment with numbers above `after`, in their order, 1,000 at most. */
  listEntriesOf(id: PaymentId, after?: number): Promise<readonly JournalEntry[]>;
  /** The rows that a view has as a sum, in chain order: 1,000 of each table at most, those after the last ones given. */
  listFolded(
    id: PaymentId,
    after: Pick<ChainObservations, 'deposits' | 'releases'>,
  ): Promise<Pick<ChainObservations, 'deposits' | 'releases'>>;

  /**
   * The expiry step has dealt with all payments up to here (any text that sorts among ids), '' at first. A decision
   * with `revisitExpiry` moves it back below its payment, in the same transaction.
   */
  readExpiryWatermark(): Promise<string>;
  /**
   * Decides these payments and moves the watermark, in one transaction. The watermark stays where it is when it was
   * moved back since it was read as `from`, and stops below a payment whose decision has `revisitExpiry`.
   */
  advanceExpiryWatermark(
    ids: readonly PaymentId[],
    watermark: { readonly from: string; readonly to: string },
    decide: Decide,
  ): Promise<void>;
}

/** One signed form of a relay transaction; a fee bump adds another with the same nonce. */
export interface RelayAttempt {
  readonly hash: string;
  /** The signed bytes, `0x…`; after a crash these same bytes are broadcast again. */
  readonly rawTransaction: string;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly signedAtMs: number;
}

/** One of a relayer's batches in flight: its nonce, the payments it carries, and every attempt that was signed. */
export interface RelayBatch {
  readonly id: number;
  readonly relayer: string;
  readonly nonce: number;
  /** A `self_transfer` does nothing but spend its nonce, so that what is behind it can be mined. It carries no payment. */
  readonly kind: 'forward' | 'rescue' | 'self_transfer';
  /** The token of a `rescue`: its address, or the zero address for POL. */
  readonly rescueToken: string | null;
  readonly gasLimit: bigint;
  readonly paymentIds: readonly PaymentId[];
  readonly attempts: readonly RelayAttempt[];
  readonly createdAtMs: number;
}

export interface RelayStore {
  /**
   * Claims for this relayer payments whose release is due at `nowMs`, that no batch carries and no other relayer has
   * claimed, and returns them, the earliest due time first; also those that are due further ahead than any delay is
   * long, because then the clock was set back. A claim lasts `durationMs` by the store's own clock and keeps other
   * relayers from preparing the same release. That no two batches carry a payment is promised by `openBatch`.
   */
  claimDueReleases(
    relayer: string,
    nowMs: number,
    limit: number,
    durationMs: number,
  ): Promise<readonly Payment[]>;
  /** Ends all claims of this relayer. */
  dropClaims(relayer: string): Promise<void>;
  /** The batches that are still in flight for this relayer, by nonce; no two have the same. At most 200. */
  listOpenBatchesOf(relayer: string): Promise<readonly RelayBatch[]>;
  /** The relayers that have batches in flight. At most 200. */
  listRelayersInFlight(): Promise<readonly string[]>;
  /**
   * The nonce after the highest of the relayer's newest 200 batches, in flight or not: a node that lags may count fewer
   * transactions. Those up to the last abandoned one are left out, because its nonce may be free. Null where only the
   * chain knows it.
   */
  findNextNonce(relayer: string): Promise<number | null>;
  /** The batches that are still in flight, of whatever relayer, the oldest first. */
  listOpenBatches(limit: number): Promise<readonly RelayBatch[]>;
  /**
   * Commits the batch with its first signed attempt, marks its payments as carried by it (for `forward`) and
   * decides them. Only then may it be broadcast. Throws when the relayer has an open batch with this nonce.
   */
  openBatch(batch: Omit<RelayBatch, 'id'>, decide: Decide): Promise<RelayBatch>;
  /** Commits another signed attempt (fee bump) of an open batch, before it is broadcast. */
  addAttempt(batchId: number, attempt: RelayAttempt): Promise<void>;
  /**
   * Closes an open batch and opens another one in its place, in one commit: with the same relayer and nonce, and with
   * payments of the first one only, or as a `self_transfer` without any. Frees the other payments, and decides all
   * payments of the first batch. Throws `RangeError` for a batch that is no such replacement.
   */
  replaceBatch(
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): Promise<RelayBatch>;
  /** Closes a batch whose nonce is spent or abandoned: frees its payments and decides them. */
  closeBatch(
    batchId: number,
    outcome: 'resolved' | 'abandoned',
    closedAtMs: number,
    decide: Decide,
  ): Promise<void>;
}

/** Leases, by which one of several processes does a task that only one should do at a time. */
export interface LeaseStore {
  /**
   * Takes a lease that is free or has ended, or renews one's own: it then lasts `durationMs` from now on, by the
   * store's own clock. False while another holder has it.
   */
  takeLease(name: string, holder: string, durationMs: number): Promise<boolean>;
  /** Ends one's own lease, so that another can take it at once. */
  releaseLease(name: string, holder: string): Promise<void>;
}

/** Which webhooks a process may claim. */
export interface ClaimableWebhooks {
  /** Fingerprints of the secrets with which it can sign. */
  readonly fingerprints: readonly string[];
  /** Webhooks that were created earlier are claimed with any secret. */
  readonly anyCreatedBeforeMs: number;
}

export interface WebhookStore {
  /**
   * The oldest `perAccount` pending webhooks of each account that has any, save those to these hosts. What one account
   * has waiting makes no difference to what is seen of another.
   */
  listWaitingWebhooks(perAccount: number, exceptHosts: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /**
   * Durably moves those that are still pending, and that this process may send, to `sending` and returns them, oldest
   * first; each is claimed once.
   */
  claimWebhooks(
    ids: readonly string[],
    nowMs: number,
    claimable: ClaimableWebhooks,
  ): Promise<readonly Webhook[]>;
  /** Records how the one attempt ended. */
  recordWebhookResult(webhook: Pick<Webhook, 'id'>, result: WebhookResult): Promise<void>;
  /** After a crash: every `sending` webhook claimed before `beforeMs` becomes `unknown` and is never sent again. */
  abandonStaleWebhooks(beforeMs: number): Promise<number>;
  listWebhooks(paymentId: PaymentId): Promise<readonly Webhook[]>;
}
