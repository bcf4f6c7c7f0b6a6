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

/** `Rescued` event of one of our factories. `units` is only as trustworthy as the rescued token. */
export interface RescuedLog extends Rescue {
  readonly deposit: Address;
}

export interface ChainLogs {
  readonly transfers: readonly TransferLog[];
  readonly forwarded: readonly ForwardedLog[];
  readonly rescued: readonly RescuedLog[];
}

/** Query for logs in blocks [fromBlock, toBlock], without zero-value transfers. */
export interface LogQuery {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Recipients to filter by at the endpoint; null fetches every transfer of the token. */
  readonly recipients: readonly Address[] | null;
  /** Returns which fetched recipients are ours (`0x` and 40 lower-case hex digits). Unused with `recipients`. */
  readonly ownOf?: (recipients: ReadonlySet<string>) => Promise<ReadonlySet<string>>;
  /** The only block of the range, requested by hash, so that a node without the block answers with an error. */
  readonly block?: BlockReference;
  /** Whether to read the factories' events. Default true. */
  readonly withReleases?: boolean;
}

/** Logs of a range that ends at `scannedTo`. */
export interface ScannedLogs extends ChainLogs {
  readonly scannedTo: BlockReference;
}

export interface LatestBlock extends BlockReference {
  readonly parentHash: string;
}

/** Reads of one pass at one endpoint. A failure throws `ChainUnavailableError` and never returns an empty result. */
export interface ChainView {
  readonly source: string;
  readLatest(): Promise<LatestBlock>;
  /** Returns the newest final block that another host confirms; null for none. A single host needs no confirmation. */
  readFinal(): Promise<BlockReference | null>;
  /** Returns null if the endpoint has no such block. */
  readBlock(blockNumber: number): Promise<BlockReference | null>;
  /** Returns the logs of as many of the query's first blocks as the endpoint allows, in chain order. */
  readLogs(query: LogQuery): Promise<ScannedLogs>;
  /** Returns whether another host has the logs; true with one host. Throws `ChainUnavailableError` if two lack some. */
  confirmLogs(logs: ChainLogs, final: BlockReference): Promise<boolean>;
  /** Returns the block number of a mined transaction; null if the endpoint does not know the transaction. */
  readTransactionBlock(transactionHash: string): Promise<number | null>;
  /** Returns whether another host has the same block; true if all endpoints are on one host. */
  confirmBlock(block: BlockReference): Promise<boolean>;
  /** Checks at other hosts that a block may replace a final one. Returns `alone` for a single host that is not ours. */
  confirmReplacement(block: BlockReference): Promise<'confirmed' | 'unconfirmed' | 'alone'>;
}

/** Thrown when the chain, or one endpoint, cannot be read. */
export class ChainUnavailableError extends Error {}

/** Thrown when the chain reports why a call would fail. An immediate retry would fail, too. */
export class CallRevertedError extends Error {}

/** Thrown when no endpoint accepts a signed transaction (fee too low, no POL for gas). A later retry may succeed. */
export class TransactionRefusedError extends Error {}

/** Thrown when the signer does not answer, refuses, or returns a wrong transaction. Releases wait for the signer. */
export class SignerError extends Error {}

/** Maximum lag of an endpoint behind the highest final block, also used by the alert CardCheckoutEndpointLags. */
export const LAGGING_BLOCKS = 30;

/** Maximum age of the newest scanned block. Longer than the pauses between reads while no payment is pending. */
export const LATE_SCAN_MS = 3 * 60_000;

/** Health of one endpoint, as seen by this process since it started. */
export interface EndpointHealth {
  readonly label: string;
  /** Whether other endpoints are asked instead, because this one did not answer in time. */
  readonly isPaused: boolean;
  /** Whether other endpoints are asked first, because they answer several times as fast. */
  readonly isSlow: boolean;
  /** Whether a call has failed since the last check of the chain id. */
  readonly isFailing: boolean;
  /** Final blocks behind the highest one that any endpoint reported; null before the first read. */
  readonly lagBlocks: number | null;
  /** Number of malformed answers, and of contradictions between endpoints for which this one may be to blame. */
  readonly disagreements: number;
  /** Last disagreement in one sentence, and its age. */
  readonly lastDisagreement: { readonly message: string; readonly agoMs: number } | null;
}

export interface ChainReader {
  listEndpoints(): readonly EndpointHealth[];
  /** Runs a pass (a series of reads) at one endpoint. After a failure, repeats the pass at the next endpoint. */
  withView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /** Runs a second reading at a host other than `withView`'s current one. Same as `withView` with a single host. */
  withOtherView<T>(use: (view: ChainView) => Promise<T>): Promise<T>;
  /** Runs a pass at each endpoint in turn, and skips those that fail. Throws if none answers. */
  withEachView<T>(use: (view: ChainView) => Promise<T>): Promise<readonly T[]>;
}

/** Checks that the token allows transfers, made before a customer is sent to pay and before a release. */
export interface TokenReader {
  isBlocklisted(address: Address): Promise<boolean>;
  /** Checks releases in order. With several hosts, two must refuse. If the only answer refuses, `heldUnits` is 0. */
  checkReleases(releases: readonly ReleaseAddresses[]): Promise<readonly ReleaseCheck[]>;
  readBalance(address: Address): Promise<bigint>;
}

export type ReleaseAddresses = Pick<Payment, 'depositAddress' | 'payoutAddress'>;

export interface ReleaseCheck {
  readonly heldUnits: bigint;
  /** Reason why a transfer of the balance to the merchant would fail; null if it would succeed or nothing is held. */
  readonly refusal: string | null;
}

/** Reads token balances at one block, in the order of the addresses. Throws `ChainUnavailableError`. */
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

/** Relayer key. Unless stated otherwise, each number is the hosts' second-highest answer, or the only host's. */
export interface Relayer {
  readonly address: Address;
  /** Returns the transaction count of the relayer, or of another address, at the newest block. */
  readLatestTransactionCount(of?: string): Promise<number>;
  /** Returns the relayer's transaction count up to the first gap in a node's pool; null if the endpoint refuses. */
  readPendingTransactionCount(): Promise<number | null>;
  /** Returns the transaction count at the finalized block, or 0 while that block is above `seenTo`. */
  readFinalTransactionCount(seenTo: number, of?: string): Promise<number>;
  isAnyMined(hashes: readonly string[]): Promise<boolean>;
  /** Returns a gas limit, from an estimate or our own figure. Throws `CallRevertedError` if the call would fail. */
  estimateGas(call: RelayCall): Promise<bigint>;
  quoteFees(): Promise<FeeQuote>;
  /** Throws `SignerError`. */
  sign(
    transaction: RelayTransaction,
    nonce: number,
    gasLimit: bigint,
    fees: FeeQuote,
  ): Promise<SignedTransaction>;
  /** Requests the signature of a transaction that no block can contain. Throws like `sign`. */
  checkSigner(): Promise<unknown>;
  /** Returns why the last signature failed; null if it succeeded. */
  signerFailure(): string | null;
  /** Sends a signed transaction, even one that nodes already have. Throws `TransactionRefusedError`. */
  broadcast(rawTransaction: string): Promise<void>;
  readGasBalance(): Promise<bigint>;
  /** Returns an address's balance as one host reports it, in the token's units, or in wei for POL (`POL_ADDRESS`). */
  readHeld(holder: Address, token: Address): Promise<bigint>;
}

export interface VerifiedChain {
  readonly reader: Pick<ChainReader, 'withView'>;
  readonly sweepBalances: SweepBalances;
  readonly mistakenToken?: MistakenToken;
}
