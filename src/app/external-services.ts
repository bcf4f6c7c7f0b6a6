import type {
  ChainReader,
  MistakenToken,
  Relayer,
  SweepBalances,
  TokenReader,
} from '../domain/ports/chain.ts';
import type { ProviderAdapters, Rates } from '../domain/ports/provider.ts';
import type { SettlementRecord } from '../domain/ports/settlement-store.ts';
import type { RelayLimits } from '../payments/relay/relay-context.ts';

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
  stop(): Promise<void>;
}

/** A factory and the wallet that its fees go to. */
export type Settlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

/** Intervals and limits of the background tasks. */
export interface Intervals {
  /** Pause between two looks at the chain while money is on its way: a deposit or a release is not final yet. */
  readonly watchIntervalMs: number;
  /** The same while payments only wait for money. Default: the interval above. */
  readonly quietWatchIntervalMs?: number;
  /** The same while no payment waits for money. Default: the interval above. */
  readonly idleWatchIntervalMs?: number;
  /** Pause between two questions for the final block while nothing of ours is above the last one. Default 0. */
  readonly finalityIntervalMs?: number;
  readonly relayIntervalMs: number;
  /** Pause between two looks for the transfers of open refunds. */
  readonly refundIntervalMs: number;
  readonly rescanIntervalMs: number;
  /** Number of final blocks that a thorough rescan reads again; a start begins with one. */
  readonly rescanDepthBlocks: number;
  /** Pause between two thorough rescans: less than so many blocks take, so that none is left out. */
  readonly thoroughRescanIntervalMs: number;
  /** Blocks up to the cursor whose second reading waits: a node may show a block before its logs. */
  readonly rescanLagBlocks?: number;
  /** Interval at which the balances of all open payments are compared with what was observed. */
  readonly sweepIntervalMs: number;
  /** Number of final blocks that are read a second time when a balance does not agree. */
  readonly deepRescanBlocks: number;
  readonly relayLimits: RelayLimits;
  /** Time for which a provider's quote is reused for the same amount. */
  readonly quoteKeepMs: number;
  /** Time for which calls to a failing provider are skipped before the next trial. */
  readonly circuitOpenMs: number;
}
