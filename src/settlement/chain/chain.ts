import type { Address, DepositTerms } from '../../payment/address.ts';
import type { Deposit, Payment, Release, Rescue } from '../../payment/payment.ts';
import type { BlockReference } from '../settlement-store.ts';

export interface TransferLog extends Deposit {
  readonly recipient: Address;
  readonly sender?: Address;
}

export interface ForwardedLog extends Release {
  readonly deposit: Address;
}

/** A `Rescued` event of one of our factories. `units` is only as trustworthy as the rescued token. */
export interface RescuedLog extends Rescue {
  readonly deposit: Address;
}

export interface ChainLogs {
  readonly transfers: readonly TransferLog[];
  readonly forwarded: readonly ForwardedLog[];
  readonly rescued: readonly RescuedLog[];
}

/** Logs in blocks [fromBlock, toBlock], without zero-value transfers. */
export interface LogQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Filter at the endpoint; null fetches every transfer of the token. */
  readonly recipients: readonly Address[] | null;
  /** Selects recipients (`0x`, 40 lower-case digits) of transfers already fetched; unused with `recipients`. */
  readonly ownOf?: (recipients: ReadonlySet<string>) => Promise<ReadonlySet<string>>;
  /** The only block of the range, requested by hash, so that a node without it answers with an error. */
  readonly block?: BlockReference;
  /** False leaves out the factories' events. Default true. */
  readonly withReleases?: boolean;
}

/** The range ends at `scannedTo`. */
export interface ScannedLogs extends ChainLogs {
  readonly scannedTo: BlockReference;
}

export interface LatestBlock extends BlockReference {
  readonly parentHash: string;
}

/** Reads of one pass at one endpoint. A failure throws `ChainUnavailableError`, and is never an empty result. */
export interface ChainView {
  readonly source: string;
  readLatest(): Promise<LatestBlock>;
  /** Newest final block confirmed at another host, or reported by the only one; null until one confirms it. */
  readFinal(): Promise<BlockReference | null>;
  /** Null if the endpoint has no such block. */
  readBlock(blockNumber: number): Promise<BlockReference | null>;
  /** Logs of the first part of the query's blocks that the endpoint allows, in chain order. */
  readLogs(query: LogQuery): Promise<ScannedLogs>;
  /** Whether another host shows the same logs; true without one. Throws `ChainUnavailableError` if two lack them. */
  confirmLogs(logs: ChainLogs, final: BlockReference): Promise<boolean>;
  /** Block number of a mined transaction; null if the endpoint does not know the transaction. */
  readTransactionBlock(transactionHash: string): Promise<number | null>;
  /** Whether an endpoint of another host has the same block; true if all endpoints are on one host. */
  confirmBlock(block: BlockReference): Promise<boolean>;
  /** Asks other hosts whether a block may replace a final one. `alone`: there is only one host, which is not enough. */
  confirmReplacement(block: BlockReference): Promise<'confirmed' | 'unconfirmed' | 'alone'>;
}

/** The chain, or one endpoint, cannot be read now. */
export class ChainUnavailableError extends Error {}

/** The chain reports that a call would fail, and why; retrying immediately gives the same answer. */
export class CallRevertedError extends Error {}

/** No endpoint accepted a signed transaction (fee too low, no POL for gas); it may succeed later. */
export class TransactionRefusedError extends Error {}

/** The signer does not answer, refuses, or returns something other than what was requested. Releases wait for it. */
export class SignerError extends Error {}

/** Maximum final blocks that an endpoint may trail the highest. The alert CardCheckoutEndpointLags uses it too. */
export const LAGGING_BLOCKS = 30;

/** Maximum age of the newest scanned block, longer than pauses between reads while no payment is pending. */
export const LATE_SCAN_MS = 3 * 60_000;

/** Health of one endpoint, as seen by this process since its start. */
export interface EndpointHealth {
  readonly label: string;
  /** Other endpoints are asked instead, because this one did not answer in time. */
  readonly isPaused: boolean;
  /** Other endpoints are asked first, because they take a fraction of its time. */
  readonly isSlow: boolean;
  /** A call has failed since the last check of its chain id. */
  readonly isFailing: boolean;
  /** Final blocks behind the highest reported one; null before the first read. */
  readonly lagBlocks: number | null;
  /** Times that other endpoints contradicted it, even if either can be wrong, or that its answer was malformed. */
  readonly disagreements: number;
  /** Last disagreement in one sentence, and its age. */
  readonly lastDisagreement: { readonly message: string; readonly agoMs: number } | null;
}

export interface ChainReader {
  listEndpoints(): readonly EndpointHealth[];
  /** Runs a pass at one endpoint; after a failure, repeats it at the next one. */
  withView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /** Second reading at a host other than `withView`'s current one; with a single host, the same as `withView`. */
  withOtherView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /** Reads each endpoint in turn. Leaves out failed ones; throws when none answered. */
  withEachView<T>(use: (view: ChainView) => Promise<T>): Promise<readonly T[]>;
}

/** Asks the token whether money can move, before a customer is sent to pay and before a release. */
export interface TokenReader {
  isBlocklisted(address: Address): Promise<boolean>;
  /** Simulates releases in order. Of several hosts, two must refuse; if only one answers, with no, `heldUnits` is 0. */
  checkReleases(releases: readonly ReleaseAddresses[]): Promise<readonly ReleaseCheck[]>;
  readBalance(address: Address): Promise<bigint>;
}

export type ReleaseAddresses = Pick<Payment, 'depositAddress' | 'payoutAddress'>;

export interface ReleaseCheck {
  readonly heldUnits: bigint;
  /** Why the transfer of the balance to the merchant would fail; null if it would succeed, or the balance is zero. */
  readonly refusal: string | null;
}

/** Token balances at one block, in the order of the addresses. Throws `ChainUnavailableError` without an answer. */
export type SweepBalances = (
  addresses: readonly Address[],
  blockNumber: number,
) => Promise<readonly bigint[]>;

/** Token that a provider may deliver instead of the payment token, such as bridged USDC. */
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

/** Transaction that the relayer signs: a call, or a zero-value transfer to itself that only uses up its nonce. */
export type RelayTransaction = RelayCall | { readonly kind: 'self_transfer' };

export const SELF_TRANSFER_GAS = 21_000n;

/** One relayer key. Unless stated otherwise, numbers are the highest that two hosts reach, or those of a single host. */
export interface Relayer {
  readonly address: Address;
  /** Transaction count of the relayer, or of another address, at the newest block. */
  readLatestTransactionCount(of?: string): Promise<number>;
  /** Transaction count of the relayer up to the first gap in an endpoint's pool; null if the endpoint refuses. */
  readPendingTransactionCount(): Promise<number | null>;
  /** Like `readLatestTransactionCount`, at the finalized block; 0 while that block is above `seenTo`. */
  readFinalTransactionCount(seenTo: number, of?: string): Promise<number>;
  isAnyMined(hashes: readonly string[]): Promise<boolean>;
  /** Gas limit for the call: an estimate with a margin, or our figure. Throws `CallRevertedError` if it would fail. */
  estimateGas(call: RelayCall): Promise<bigint>;
  quoteFees(): Promise<FeeQuote>;
  /** Throws `SignerError` if the signer does not answer, refuses, or returns something else. */
  sign(
    transaction: RelayTransaction,
    nonce: number,
    gasLimit: bigint,
    fees: FeeQuote,
  ): Promise<SignedTransaction>;
  /** Requests the signature of a transaction that no block can contain. Throws like `sign`. */
  checkSigner(): Promise<unknown>;
  /** Why the last signature failed; null if it did not. */
  signerFailure(): string | null;
  /** Sends a signed transaction, even if known or mined. Throws `TransactionRefusedError` if no endpoint accepts it. */
  broadcast(rawTransaction: string): Promise<void>;
  readGasBalance(): Promise<bigint>;
  /** Balance of an address as one host reports it, in the token's units; for POL (`POL_ADDRESS`) in wei. */
  readHeld(holder: Address, token: Address): Promise<bigint>;
}

export interface VerifiedChain {
  readonly reader: Pick<ChainReader, 'withView'>;
  readonly sweepBalances: SweepBalances;
  readonly mistakenToken?: MistakenToken;
}
