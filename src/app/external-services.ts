import type { Rates } from '../payment/rates.ts';
import type { ProviderAdapters } from '../providers/provider.ts';
import type {
  ChainReader,
  MistakenToken,
  Relayer,
  SweepBalances,
  TokenReader,
} from '../settlement/chain/chain.ts';
import { defaultRelayLimits } from '../settlement/relay/relay-context.ts';
import type { SettlementRecord } from '../settlement/settlement-store.ts';

/** The external services of one mode: live, or started by the sandbox. */
export interface ExternalServices {
  readonly chainId: number;
  /** Settlement terms of new payments, followed by those of earlier ones: the newest first. */
  readonly settlements: readonly [Settlement, ...Settlement[]];
  readonly chain: ChainReader;
  /** Calls back when an endpoint announces a block, until `stop`; absent where none does. */
  readonly subscribeToHeads?: (onHead: () => void) => void;
  readonly token: TokenReader;
  /** One for each relayer key of this process. Rescues go by the first. */
  readonly relayers: readonly [Relayer, ...Relayer[]];
  readonly sweepBalances: SweepBalances;
  /** Absent where the chain has none. */
  readonly mistakenToken?: MistakenToken;
  readonly rates: Rates;
  readonly adapters: ProviderAdapters;
  readonly intervals: Intervals;
  /** Address of a transaction in the explorer, or null where the chain has none. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
  /** Whether RPC endpoints confirm the deposit factory. Absent where they always do. */
  readonly isFactoryVerified?: () => boolean;
  stop(): Promise<void>;
}

/** A factory and the wallet that its fees go to. */
export type Settlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

/** Intervals and limits of the background tasks, as live mode has them. */
export const liveIntervals = {
  /** Pause between two looks at the chain while money is on its way: a deposit or a release is not final yet. */
  watchIntervalMs: 1_000,
  /** The same while payments only wait for money. Default: the interval above. */
  quietWatchIntervalMs: 6_000,
  /** The same while no payment waits for money. Default: the interval above. */
  idleWatchIntervalMs: 45_000,
  /** Pause between two questions for the final block while nothing of ours is above the last one. Default 0. */
  finalityIntervalMs: 60_000,
  relayIntervalMs: 1_000,
  /** Pause between two looks for the transfers of open refunds. */
  refundIntervalMs: 30_000,
  rescanIntervalMs: 5 * 60_000,
  /** Number of final blocks that a thorough rescan reads again; a start begins with one. */
  rescanDepthBlocks: 2_000,
  /** Pause between two thorough rescans: less than so many blocks take, so that none is left out. */
  thoroughRescanIntervalMs: 50 * 60_000,
  /** Blocks up to the cursor whose second reading waits: a node may show a block before its logs. */
  rescanLagBlocks: 32,
  /** Interval at which the balances of all open payments are compared with what was observed. */
  sweepIntervalMs: 10 * 60_000,
  /** Number of final blocks that are read a second time when a balance does not agree. */
  deepRescanBlocks: 50_000,
  relayLimits: defaultRelayLimits,
  /** Time for which a provider's quote is reused for the same amount. */
  quoteKeepMs: 20_000,
  /** Time for which calls to a failing provider are skipped before the next trial. */
  circuitOpenMs: 30_000,
};

type WithDefault = 'quietWatchIntervalMs' | 'idleWatchIntervalMs' | 'finalityIntervalMs' | 'rescanLagBlocks';
export type Intervals = Readonly<
  Omit<typeof liveIntervals, WithDefault> & Partial<Pick<typeof liveIntervals, WithDefault>>
>;
