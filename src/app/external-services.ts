import type { Rates } from '../payment/money.ts';
import type { ProviderAdapters } from '../providers/provider.ts';
import { defaultRelayLimits } from '../settlement/batch-and-gas-limits.ts';
import type {
  ChainReader,
  LatestBlock,
  MistakenToken,
  Relayer,
  SweepBalances,
  TokenReader,
} from '../settlement/chain/chain.ts';
import type { SettlementRecord } from '../settlement/settlement-store.ts';

/** Services outside this process, real in live mode or started by the sandbox. */
export interface ExternalServices {
  /** Settlement of new payments, then those of earlier ones, newest first. */
  readonly settlements: readonly [Settlement, ...Settlement[]];
  readonly chain: ChainReader;
  /** Calls back when an endpoint announces a block, until `stop`; absent if no endpoint announces blocks. */
  readonly subscribeToHeads?: (onHead: (block: LatestBlock) => void) => void;
  readonly token: TokenReader;
  /** One for each relayer key of this process. The first also sends rescues. */
  readonly relayers: readonly [Relayer, ...Relayer[]];
  readonly sweepBalances: SweepBalances;
  readonly mistakenToken?: MistakenToken;
  readonly rates: Rates;
  readonly adapters: ProviderAdapters;
  readonly intervals: Intervals;
  /** Explorer URL of a transaction; null if the chain has no explorer. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
  /** Whether RPC endpoints confirm the deposit factory; absent if they always do. */
  readonly isFactoryVerified?: () => boolean;
}

/** A factory, and the wallet that receives its fees. */
export type Settlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

export const liveIntervals = {
  /** Pause between two polls of the chain while a deposit or a release is not final. */
  watchIntervalMs: 1_000,
  /** Pause between two polls while payments await money. */
  quietWatchIntervalMs: 6_000,
  /** Pause between two polls while no payment awaits money. */
  idleWatchIntervalMs: 100_000,
  /** Interval between reads of the final block while no event of a payment is above the last one. */
  finalityIntervalMs: 60_000,
  relayIntervalMs: 1_000,
  /** Interval between a feature's reads of the chain. */
  featureIntervalMs: 30_000,
  rescanIntervalMs: 5 * 60_000,
  /** Number of final blocks that a thorough rescan rereads, and with which the first scan starts. */
  rescanDepthBlocks: 2_000,
  /** Pause between two thorough rescans. Shorter than 2,000 blocks take at 1.5 s each, so that none is skipped. */
  thoroughRescanIntervalMs: 45 * 60_000,
  /** Number of newest scanned blocks whose second reading waits, because a node may show a block before its logs. */
  rescanLagBlocks: 32,
  /** Interval between comparisons of the balances of all open payments with the observations. */
  sweepIntervalMs: 10 * 60_000,
  /** Number of final blocks that are reread when a balance does not match. */
  deepRescanBlocks: 50_000,
  relayLimits: defaultRelayLimits,
  /** Minimum age of a provider's last quote for a page to request another one in the background. */
  quoteKeepMs: 20_000,
  /** Time for which calls to a failing provider are skipped before the next trial. */
  circuitOpenMs: 30_000,
};

export type Intervals = Readonly<typeof liveIntervals>;
