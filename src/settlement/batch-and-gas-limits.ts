import type { UsdRate } from '../payment/money.ts';

/** Maximum fee per gas: ten times the base fee that block producers may aim at. No variable sets it. */
export const MAXIMUM_FEE_PER_GAS_WEI = 5_000n * 10n ** 9n;

/** Operator's maximum gas cost of a release, as a share of the amount that its payment received. */
export interface GasShareLimit {
  readonly basisPoints: number;
  readonly polRate: UsdRate;
}

/** Limits of a relayer key. In live mode, variables set a transaction's fee, the gas share and the batch window. */
export const defaultRelayLimits = {
  /** Maximum unmined batches per key, because nodes guarantee to keep only 16 executable transactions per account. */
  maximumUnmined: 16,
  /** Maximum open batches per key. A mined batch stays open until it is final. */
  maximumOpen: 64,
  /** Maximum payments of one release transaction. */
  releasesPerBatch: 100,
  /** Time for which the first due release waits for others to share its transaction. */
  batchWindowMs: 0,
  /** Time before an attempt's fees are compared with the latest quote. */
  bumpAfterMs: 15_000,
  maximumFeePerGas: MAXIMUM_FEE_PER_GAS_WEI,
  /** Maximum cost of one transaction's gas limit, in wei, because nodes refuse more than their own cap. */
  maximumTransactionFeeWei: 10n ** 18n,
  /** Maximum gas share; releases above it wait for lower fees. Null for no limit. */
  gasShare: null as GasShareLimit | null,
  /** Time for which the first batch in flight may stay unmined before another one takes its nonce. */
  minedPatienceMs: 600_000,
  /** Time for which a gap before our first nonce may close by itself before it is filled. */
  nonceGapPatienceMs: 30_000,
  /** Time after its last attempt for which a batch of a former key is rebroadcast before it is abandoned. */
  retiredPatienceMs: 600_000,
};

export type RelayLimits = Readonly<typeof defaultRelayLimits>;
