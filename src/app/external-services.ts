import type { ChainReader, Relayer, SweepBalances, TokenReader } from '../domain/ports/chain.ts';
import type { ProviderAdapters, Rates } from '../domain/ports/provider.ts';
import type { SettlementRecord } from '../domain/ports/settlement-store.ts';
import type { RelayLimits } from '../payments/relay/relay-context.ts';

/** The outside external as one mode of the service sees it: live, or brought along by the sandbox. */
export interface ExternalServices {
  readonly chainId: number;
  /** What new payments are made with, and before it in time what earlier ones were made with: the newest first. */
  readonly settlements: readonly [Settlement, ...Settlement[]];
  readonly chain: ChainReader;
  readonly token: TokenReader;
  readonly relayer: Relayer;
  readonly sweepBalances: SweepBalances;
  readonly rates: Rates;
  readonly adapters: ProviderAdapters;
  readonly intervals: Intervals;
  /** Where a transaction can be looked at, or null where the chain has no explorer. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
  stop(): Promise<void>;
}

/** A factory and the wallet that its fees go to. */
export type Settlement = Omit<SettlementRecord, 'lastStartedAtMs'>;

/** How fast things go on by themselves. */
export interface Intervals {
  readonly watchIntervalMs: number;
  readonly relayIntervalMs: number;
  readonly rescanIntervalMs: number;
  /** How many final blocks are read a second time. */
  readonly rescanDepthBlocks: number;
  /** How often the balances of all open payments are compared with what was observed. */
  readonly sweepIntervalMs: number;
  /** How many final blocks are read a second time when a balance does not agree. */
  readonly deepRescanBlocks: number;
  readonly relayLimits: RelayLimits;
  /** How long a provider's quote is shown to others who pay as much. */
  readonly quoteKeepMs: number;
  /** How long a provider that keeps failing is left alone before it is tried again. */
  readonly circuitOpenMs: number;
}
