import type { UsdRate } from '../payment/money.ts';

/** Maximum fee per gas: ten times the default `targetBaseFee` of Polygon's node bor (500 gwei). Not configurable. */
export const MAXIMUM_FEE_PER_GAS_WEI = 5_000n * 10n ** 9n;

/** Operator's limit on the gas cost of a release, as a share of the amount that the payment received. */
export interface GasShareLimit {
  readonly basisPoints: number;
  readonly polRate: UsdRate;
}

/** Limits per relayer key. In live mode, environment variables set the transaction fee, gas share and batch window. */
export const defaultRelayLimits = {
  /** Maximum unmined batches per key, because nodes guarantee to keep only 16 executable transactions per account. */
  maximumUnmined: 16,
  /** Maximum open batches per key. A mined batch stays open until it is final. */
  maximumOpen: 64,
  releasesPerBatch: 100,
  /** Time that the first due release waits for others to share its transaction. */
  batchWindowMs: 0,
  /** Minimum age of an attempt before its fees are compared with the latest quote. */
  bumpAfterMs: 15_000,
  maximumFeePerGas: MAXIMUM_FEE_PER_GAS_WEI,
  /** Maximum gas limit times fee of one transaction, in wei. Nodes refuse a transaction above their own cap. */
  maximumTransactionFeeWei: 10n ** 18n,
  /** Gas share above which a release waits for lower fees; null for no limit. */
  gasShare: null as GasShareLimit | null,
  /** Time that the first batch in flight may stay unmined before a replacement takes its nonce. */
  minedPatienceMs: 600_000,
  /** Time for a nonce gap before the first open batch to close by itself. After that, the relayer fills the gap. */
  nonceGapPatienceMs: 30_000,
  /** Time from a former key's last attempt until its batch is abandoned. Until then, the batch is rebroadcast. */
  retiredPatienceMs: 600_000,
};

export type RelayLimits = Readonly<typeof defaultRelayLimits>;
