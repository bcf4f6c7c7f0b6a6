import type { DepositTerms } from '../../payment/deposit-address.ts';
import type { Deposit, Release, Rescue } from '../../payment/payment.ts';
import type { Address } from '../../payment/payout-address.ts';
import type { BlockReference } from '../settlement-store.ts';

/** A USDC `Transfer`. */
export interface TransferLog extends Deposit {
  readonly recipient: Address;
  /** Informational; endpoints are not compared by it. */
  readonly sender?: Address;
}

/** A `Forwarded` event of one of our factories. */
export interface ForwardedLog extends Release {
  readonly deposit: Address;
}

/** A `Rescued` event of one of our factories; `units` are worth no more than the word of the token that names them. */
export interface RescuedLog extends Rescue {
  readonly deposit: Address;
}

export interface ChainLogs {
  readonly transfers: readonly TransferLog[];
  readonly forwarded: readonly ForwardedLog[];
  readonly rescued: readonly RescuedLog[];
}

/** Logs in blocks [fromBlock, toBlock]. Transfers of nothing are left out. */
export interface LogQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Filter at the endpoint; null fetches every transfer of the token. */
  readonly recipients: readonly Address[] | null;
  /**
   * Which recipients of the fetched transfers to keep, all of them by default; asked after the node has answered, with `0x`
   * and 40 lower-case digits each. Not asked where the transfers are filtered by recipients.
   */
  readonly ownOf?: (recipients: ReadonlySet<string>) => Promise<ReadonlySet<string>>;
  /** The one block of the range, to be named by its hash: a node that does not have it answers with an error. */
  readonly block?: BlockReference;
  /** False leaves out what the factories say; default true. */
  readonly withReleases?: boolean;
}

/** `rescued` is absent where it was not requested. The range ends at `scannedTo`. */
export interface ScannedLogs extends Omit<ChainLogs, 'rescued'>, Partial<Pick<ChainLogs, 'rescued'>> {
  readonly scannedTo: BlockReference;
}

export interface LatestBlock extends BlockReference {
  readonly parentHash: string;
}

/** Both heads of the chain, from one endpoint. `final` is null while endpoints disagree about its hash. */
export interface ChainHeads {
  readonly latest: BlockReference;
  readonly final: BlockReference | null;
}

/**
 * Reads of one pass, all from the same endpoint, so that they are of one view of the chain.
 * Every method throws `ChainUnavailableError` when the endpoint fails; nothing is ever answered as "empty" instead.
 */
export interface ChainView {
  /** Names the endpoint. */
  readonly source: string;
  readLatest(): Promise<LatestBlock>;
  /** The newest final block that an endpoint of another host confirms; null while none does. */
  readFinal(): Promise<BlockReference | null>;
  readHeads(): Promise<ChainHeads>;
  /** Null when the endpoint has no such block. */
  readBlock(blockNumber: number): Promise<BlockReference | null>;
  /** The logs of the first part of the query's blocks that the endpoint allows, in chain order. */
  readLogs(query: LogQuery): Promise<ScannedLogs>;
  /**
   * Whether an endpoint of another host shows the same logs on the same chain up to `final`. Makes no call for an empty
   * list; where all endpoints are on one host, that host is trusted. Throws `ChainUnavailableError` when two other
   * hosts do not have them.
   */
  confirmLogs(logs: ChainLogs, final: BlockReference): Promise<boolean>;
  /** The block of a mined transaction; null where the endpoint does not know it. */
  readTransactionBlock(transactionHash: string): Promise<number | null>;
  /** Whether an endpoint of another host has the same block; true where all endpoints are on one host. */
  confirmBlock(block: BlockReference): Promise<boolean>;
  /**
   * Whether a block in place of one that was final is to be believed. Asks every endpoint for the chain id again. `alone`:
   * all endpoints are on one host, and its word is not enough.
   */
  confirmReplacement(block: BlockReference): Promise<'confirmed' | 'unconfirmed' | 'alone'>;
}

/** Why the chain could not be asked; the pass is tried again, with the next endpoint. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
}

/** The chain says that a call would fail, and why; asking again at once gives the same answer. */
export class CallRevertedError extends Error {
  override readonly name = 'CallRevertedError';
}

/** No endpoint took a signed transaction (too low a fee, no POL for gas); it may still be good later. */
export class TransactionRefusedError extends Error {
  override readonly name = 'TransactionRefusedError';
}

/** So many final blocks behind another one, an endpoint is not well; the alert CardCheckoutEndpointLags begins there as well. */
export const LAGGING_BLOCKS = 30;

/**
 * Age of the newest scanned block that counts as late: without money under way, up to two minutes pass between two reads of
 * final blocks.
 */
export const LATE_SCAN_MS = 3 * 60_000;

/** The health of one endpoint, as this process has seen it since its start. */
export interface EndpointHealth {
  /** Its host, and its port if it names one. */
  readonly label: string;
  /** Whether other endpoints are asked instead, because this one did not answer in time. */
  readonly isPaused: boolean;
  /** Whether other endpoints are asked first, because they take a fraction of its time. */
  readonly isSlow: boolean;
  /** Whether its last call failed. */
  readonly isFailing: boolean;
  /** Final blocks by which it lags behind the highest reported one; null before it was asked. */
  readonly lagBlocks: number | null;
  /** How often other endpoints contradicted it, also where either can be wrong, or its answer was malformed. */
  readonly disagreements: number;
  /** The last of them in one sentence, and how long ago it was. */
  readonly lastDisagreement: { readonly message: string; readonly agoMs: number } | null;
}

/** The watcher's way to the chain. */
export interface ChainReader {
  listEndpoints(): readonly EndpointHealth[];
  /** One pass over one endpoint; the next call may use another after a failure. */
  withView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /**
   * A second reading, at an endpoint of another host than the current one of `withView`. Each call begins with the next
   * endpoint, and goes on when one fails. With one host only, the same as `withView`.
   */
  withOtherView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /** A reading at each endpoint, one after the other. Failed ones are left out; throws when none answered. */
  withEachView<T>(use: (view: ChainView) => Promise<T>): Promise<readonly T[]>;
}

/** The token's word on whether money can move, asked before a customer is sent to pay and before a release. */
export interface TokenReader {
  isBlocklisted(address: Address): Promise<boolean>;
  /**
   * Whether each of these releases would succeed now, in their order. Where several hosts are asked, two must refuse it;
   * one that is refused by the only host that answers counts as empty.
   */
  checkReleases(releases: readonly ReleaseAddresses[]): Promise<readonly ReleaseCheck[]>;
  readBalance(address: Address): Promise<bigint>;
  /** What the token's contract says of itself. */
  describe(): Promise<{ readonly symbol: string; readonly decimals: number }>;
}

export interface ReleaseAddresses {
  readonly deposit: Address;
  readonly merchant: Address;
}

export interface ReleaseCheck {
  /** What the deposit address holds. */
  readonly heldUnits: bigint;
  /** Why the transfer of all of it to the merchant would fail; null when it would succeed, or nothing is held. */
  readonly refusal: string | null;
}

/**
 * Token balances of many addresses at one block, in the addresses' order. Against silent gaps: what a deposit address
 * holds must be its deposits less its releases, else a log was missed. Throws `ChainUnavailableError`.
 */
export type SweepBalances = (
  addresses: readonly Address[],
  blockNumber: number,
) => Promise<readonly bigint[]>;

/** A token that is taken for the payment token, such as bridged USDC: a provider may deliver it by mistake. */
export interface MistakenToken {
  readonly contract: Address;
  readonly sweepBalances: SweepBalances;
}

export interface FeeQuote {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface SignedTransaction extends FeeQuote {
  readonly hash: string;
  readonly rawTransaction: string;
}

export type RelayCall = { readonly factory: Address; readonly terms: readonly DepositTerms[] } & (
  | { readonly kind: 'forward' }
  | { readonly kind: 'rescue'; readonly token: Address }
);

/** What the relayer signs: a call, or a transfer of nothing to itself, which only spends its nonce. */
export type RelayTransaction = RelayCall | { readonly kind: 'self_transfer' };

export const SELF_TRANSFER_GAS = 21_000n;

/**
 * The sender's way to the chain: one relayer key. A number is the highest that two hosts reach, or one host's where no
 * other answers. Throws `ChainUnavailableError` when no endpoint answers.
 */
export interface Relayer {
  readonly address: Address;
  /** Transactions of the relayer, or of another address, at the newest block. */
  readLatestTransactionCount(of?: string): Promise<number>;
  /** Transactions of the relayer up to the first that an endpoint's pool lacks; null where it does not say. */
  readPendingTransactionCount(): Promise<number | null>;
  /** Transactions of the relayer, or of another address, at finalized blocks up to `seenTo`; 0 while they are higher. */
  readFinalTransactionCount(seenTo: number, of?: string): Promise<number>;
  /** Whether one of these transactions is in a block. */
  isAnyMined(hashes: readonly string[]): Promise<boolean>;
  /** Gas limit for the call: an estimate with a margin, or our own figure. Throws `CallRevertedError`. */
  estimateGas(call: RelayCall): Promise<bigint>;
  /** Fees that the next blocks ask for, from the fee history. */
  quoteFees(): Promise<FeeQuote>;
  /** Signs; sends nothing. */
  sign(
    transaction: RelayTransaction,
    nonce: number,
    gasLimit: bigint,
    fees: FeeQuote,
  ): Promise<SignedTransaction>;
  /** Hands the signed bytes to the chain; already known or already mined is no error. Throws `TransactionRefusedError`. */
  broadcast(rawTransaction: string): Promise<void>;
  /** The relayer's gas balance in wei. */
  readGasBalance(): Promise<bigint>;
  /** What an address holds of a token, in the token's units; of POL, `POL_ADDRESS`, in wei. */
  readHeld(holder: Address, token: Address): Promise<bigint>;
}

/** The chain as a verification asks it. */
export interface VerifiedChain {
  readonly reader: Pick<ChainReader, 'withView'>;
  readonly sweepBalances: SweepBalances;
  readonly mistakenToken?: MistakenToken;
  /** Absent without a running server. */
  readonly token?: Pick<TokenReader, 'describe'>;
}
