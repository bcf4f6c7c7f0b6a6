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

/** Services outside this process: real ones in live mode, or those that the sandbox starts. */
export interface ExternalServices {
  /** Settlement of new payments, followed by earlier settlements, newest first. */
  readonly settlements: readonly [Settlement, ...Settlement[]];
  readonly chain: ChainReader;
  /** Calls `onHead` for each block that an endpoint announces; absent if no endpoint announces blocks. */
  readonly subscribeToHeads?: (onHead: (block: LatestBlock) => void) => void;
  readonly token: TokenReader;
  /** Relayers, one for each relayer key of this process. The first one also sends rescues. */
  readonly relayers: readonly [Relayer, ...Relayer[]];
  readonly sweepBalances: SweepBalances;
  readonly mistakenToken?: MistakenToken;
  readonly rates: Rates;
  readonly adapters: ProviderAdapters;
  readonly intervals: Intervals;
  /** Returns the explorer URL of a transaction; null if the chain has no explorer. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
  /** Returns whether RPC endpoints confirm the deposit factory; absent if they always do. */
  readonly isFactoryVerified?: () => boolean;
}

/** A factory and the wallet that receives its fees. */
export type Settlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

export const liveIntervals = {
  /** Pause between two polls of the chain while a deposit or release is not final. */
  watchIntervalMs: 1_000,
  /** Pause between two polls while payments await money. */
  quietWatchIntervalMs: 6_000,
  /** Pause between two polls while no payment awaits money. */
  idleWatchIntervalMs: 100_000,
  /** Interval between reads of the final block while no payment event is above the last final block. */
  finalityIntervalMs: 60_000,
  relayIntervalMs: 1_000,
  /** Interval between a feature's reads of the chain. */
  featureIntervalMs: 30_000,
  rescanIntervalMs: 5 * 60_000,
  /** Number of final blocks that a thorough rescan and the first rescan read again. */
  rescanDepthBlocks: 2_000,
  /** Pause between two thorough rescans, shorter than 2,000 blocks take at 1.5 s each, so that none is skipped. */
  thoroughRescanIntervalMs: 45 * 60_000,
  /** Number of newest scanned blocks that are not reread yet, because a node may show a block before its logs. */
  rescanLagBlocks: 32,
  /** Interval between comparisons of all open payments' balances with the observations. */
  sweepIntervalMs: 10 * 60_000,
  /** Number of final blocks to reread when a balance does not match. */
  deepRescanBlocks: 50_000,
  relayLimits: defaultRelayLimits,
  /** Minimum age of a provider's last quote before a page requests another quote in the background. */
  quoteKeepMs: 20_000,
  /** Time for which a failing provider is not called, until the next trial. */
  circuitOpenMs: 30_000,
};

export type Intervals = Readonly<typeof liveIntervals>;
